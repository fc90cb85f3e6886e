package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// streaming is what answers without an end in time share: streams of events, logs, consoles and
// back-ups. They end once the credentials of the caller change.
type streaming struct {
	auth      *authenticator
	heartbeat time.Duration   // between two checks of the credentials
	stop      <-chan struct{} // closed when streams have to end
	now       func() time.Time
}

// writer starts an answer without an end in time. Each piece still has to be taken in the time for
// writing.
func (s *streaming) writer(c *gin.Context, caller Subject) *streamWriter {
	control := http.NewResponseController(c.Writer)
	// The times of the request would end the connection. A test recorder has none.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
	return &streamWriter{c, s, caller, s.now()}
}

// streamWriter writes an answer as long as the client reads it and the credentials of the caller
// stay valid.
type streamWriter struct {
	c *gin.Context
	*streaming
	caller  Subject
	checked time.Time
}

// Write writes and flushes one piece. It fails once the caller's credentials have changed, which is
// checked with every heartbeat.
func (w *streamWriter) Write(b []byte) (int, error) {
	if w.now().Sub(w.checked) >= w.heartbeat {
		if err := w.checkCaller(); err != nil {
			return 0, err
		}
	}
	n, err := w.c.Writer.Write(b)
	w.c.Writer.Flush()
	return n, err
}

// checkCaller fails unless the caller is still the one with which the answer began.
func (w *streamWriter) checkCaller() error {
	w.checked = w.now()
	return w.auth.confirm(w.c.Request, w.caller)
}
