package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
)

// requestLog is the outermost middleware: it counts and logs requests, and answers for handlers that panic.
type requestLog struct {
	metrics *metrics
	errors  *errorWriter
	log     *slog.Logger
	now     func() time.Time
}

// record counts and logs every request once it has ended.
func (l *requestLog) record(c *gin.Context) {
	began := l.now()
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	defer func() { // also of an answer that breaks
		took := l.now().Sub(began)
		l.metrics.request(c.FullPath(), c.Request.Method, c.Writer.Status(), took)
		l.log.LogAttrs(c.Request.Context(), slog.LevelDebug, "request",
			slog.String("method", c.Request.Method), slog.String("path", c.Request.URL.Path),
			slog.Int("status", c.Writer.Status()), slog.Int("bytes", c.Writer.Size()),
			slog.Duration("took", took), slog.String("remote", c.Request.RemoteAddr))
	}()
	c.Next()
}

// recover turns a panic into an answer. A panic that is meant to break the connection goes on.
func (l *requestLog) recover(c *gin.Context) {
	defer func() {
		what := recover()
		if what == nil {
			return
		}
		if what == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
			panic(what)
		}
		l.log.LogAttrs(c.Request.Context(), slog.LevelError, "handler panicked",
			slog.Any("panic", what), slog.String("stack", string(debug.Stack())))
		l.errors.write(c, fmt.Errorf("panic: %v", what))
	}()
	c.Next()
}
