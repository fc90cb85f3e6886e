package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// streamWriter writes an answer without a time limit, as long as the client reads it and the
// credentials of the caller stay valid.
type streamWriter struct {
	c       *gin.Context
	control *http.ResponseController
	server  *Server
	caller  Subject
	checked time.Time
}

// newStreamWriter starts an answer without an end in time. Each piece still has to be taken in
// the time for writing.
func (s *Server) newStreamWriter(c *gin.Context, caller Subject) *streamWriter {
	control := http.NewResponseController(c.Writer)
	// The times of the request would end the connection. A test recorder has none.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
	return &streamWriter{c, control, s, caller, s.now()}
}

// Write writes and flushes one piece. It fails once the caller's credentials have changed,
// which is looked up with every heartbeat.
func (p *streamWriter) Write(b []byte) (int, error) {
	if p.server.now().Sub(p.checked) >= p.server.heartbeat {
		if err := p.checkCaller(); err != nil {
			return 0, err
		}
	}
	n, err := p.c.Writer.Write(b)
	p.c.Writer.Flush()
	return n, err
}

// checkCaller fails unless the caller is still the one with which the answer began.
func (p *streamWriter) checkCaller() error {
	p.checked = p.server.now()
	return p.server.checkCaller(p.c.Request, p.caller)
}

// checkCaller fails unless the credentials of a request still have the name and the role of a
// subject.
func (s *Server) checkCaller(r *http.Request, caller Subject) error {
	now, err := s.authenticate(r)
	if err == nil && (now.Name != caller.Name || now.Role != caller.Role) {
		return errUnauthenticated
	}
	return err
}
