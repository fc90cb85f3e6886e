package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"vjob/api/guard"
	"vjob/api/wire"
)

// connKey is where the context of a connection keeps its [guard.Conn].
type connKey struct{}

// withConn is the ConnContext of the HTTP server.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, guard.ConnOf(conn))
}

// connOf is the connection of a request; nil if no server of ours has accepted it.
func connOf(r *http.Request) *guard.Conn {
	conn, _ := r.Context().Value(connKey{}).(*guard.Conn)
	return conn
}

// peerOf returns the key under which requests of unknown callers are counted.
func peerOf(r *http.Request) string {
	if conn := connOf(r); conn != nil {
		return conn.Peer.Key
	}
	return guard.AddressKey(r.RemoteAddr)
}

// refusal is the answer to a connection above the limits.
var refusal = func() []byte {
	body, err := json.Marshal(wire.Error{Error: wire.ErrorBody{
		Code:    wire.CodeUnavailable,
		Message: "connections: all that you, or all callers, may have are busy: close some, or try again in a second",
	}})
	if err != nil {
		panic(err) // it is text
	}
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"Retry-After: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// withDeadlines gives each answer its time to be taken. A connection is kept for further
// requests only if a caller is known on it: see keepConnection.
func withDeadlines(next http.Handler, perWrite time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := connOf(r); conn != nil && !conn.Authenticated() {
			w.Header().Set("Connection", "close")
		}
		out := &deadlineResponse{w, http.NewResponseController(w), perWrite}
		next.ServeHTTP(out, r)
		_ = out.extend() // for what is still in a buffer; if it fails, so does sending that
	})
}

// keepConnection keeps the connection of a known caller.
func keepConnection(w http.ResponseWriter, r *http.Request) {
	if conn := connOf(r); conn != nil && !conn.Authenticated() {
		conn.Authenticate()
		w.Header().Del("Connection")
	}
}

// deadlineResponse is an answer of which each piece has to be taken in time.
type deadlineResponse struct {
	http.ResponseWriter
	control  *http.ResponseController
	perWrite time.Duration
}

// extend begins the time for the next piece. A test recorder has no deadlines.
func (p *deadlineResponse) extend() error {
	err := p.control.SetWriteDeadline(time.Now().Add(p.perWrite))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// Write writes one piece.
func (p *deadlineResponse) Write(b []byte) (int, error) {
	if err := p.extend(); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// Flush sends what has been written.
func (p *deadlineResponse) Flush() { _ = p.control.Flush() } // a recorder cannot, and need not

// Hijack takes the connection over.
func (p *deadlineResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) { return p.control.Hijack() }

// Unwrap is for http.ResponseController.
func (p *deadlineResponse) Unwrap() http.ResponseWriter { return p.ResponseWriter }
