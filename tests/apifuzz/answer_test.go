package apifuzz_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
)

// answer is what came back. As a writer it ends a stream after a few pieces.
type answer struct {
	status int
	header http.Header
	body   []byte
	panics string // what the handler panicked with, and where
	pieces int
	enough context.CancelFunc
}

// Header is the header to write.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps what is written.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.body = append(a.body, b...)
	return len(b), nil
}

// Flush counts the pieces of a stream.
func (a *answer) Flush() {
	a.WriteHeader(http.StatusOK)
	if a.pieces++; a.pieces == 2 {
		a.enough()
	}
}

// serve makes a request without a connection.
func serve(h http.Handler, q *request) (a *answer) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a = &answer{header: http.Header{}, enough: cancel}
	defer func() {
		if what := recover(); what != nil {
			a.panics = fmt.Sprintf("%v\n%s", what, debug.Stack())
		}
	}()
	r := q.http()
	h.ServeHTTP(a, r.WithContext(ctx))
	a.WriteHeader(http.StatusOK)
	if q.method == http.MethodHead {
		a.body = nil
	}
	return a
}

// isJSON reports whether the answer says that it is.
func (a *answer) isJSON() bool {
	return bytes.HasPrefix([]byte(a.header.Get("Content-Type")), []byte("application/json"))
}

// stream is an answer that never ends, of which each piece is looked at.
type stream struct {
	answer
	look func(piece []byte)
}

// Write looks at a piece.
func (s *stream) Write(b []byte) (int, error) {
	s.look(b)
	return len(b), nil
}

// Flush does nothing: nothing is kept back.
func (s *stream) Flush() {}
