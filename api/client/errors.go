package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
)

// Error is an answer of the server that is not a success. It matches the
// sentinel of package cluster that its code stands for.
type Error struct {
	Status  int    // of HTTP
	Code    string // see [wire.ErrorBody]
	Message string
	Field   string // of the input, "" when none is to blame
	Fields  []wire.FieldFault
	Body    []byte // the whole answer, for dialects that say more
}

// Error is the message, with the field in front where it is not there already. Several wrong fields have a line each.
func (e *Error) Error() string {
	if len(e.Fields) > 1 {
		lines := make([]string, len(e.Fields))
		for i, f := range e.Fields {
			lines[i] = f.Message
		}
		return strings.Join(lines, "\n")
	}
	if e.Field == "" || strings.Contains(e.Message, e.Field) {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// sentinels maps the codes of the wire to what they stand for.
var sentinels = map[string]error{
	wire.CodeInvalid:         cluster.ErrInvalid,
	wire.CodeTooLarge:        cluster.ErrInvalid,
	wire.CodeNotFound:        cluster.ErrNotFound,
	wire.CodeConflict:        cluster.ErrConflict,
	wire.CodeChanged:         cluster.ErrChanged,
	wire.CodeForbidden:       cluster.ErrForbidden,
	wire.CodeUnauthenticated: cluster.ErrUnauthenticated,
	wire.CodeTooMany:         cluster.ErrTooMany,
	wire.CodeUnavailable:     cluster.ErrUnavailable,
}

// Is matches the sentinel of the code.
func (e *Error) Is(target error) bool {
	sentinel, ok := sentinels[e.Code]
	return ok && sentinel == target
}

// unreachable is a server that did not answer.
type unreachable struct {
	server string
	cause  error
}

// Error names the server and what to try.
func (e *unreachable) Error() string {
	return fmt.Sprintf("no answer from %s (%v): is vjobd running there? Choose another server with --server or VJOB_SERVER", e.server, e.cause)
}

// Is makes it an unavailable service.
func (e *unreachable) Is(target error) bool { return target == cluster.ErrUnavailable }

// Unwrap is what the network said.
func (e *unreachable) Unwrap() error { return e.cause }

// decodeError reads the error shape of the API, or makes one from the status
// when something else answered.
func decodeError(res *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	var body wire.Error
	if json.Unmarshal(data, &body) == nil && body.Error.Code != "" {
		e := body.Error
		return &Error{Status: res.StatusCode, Code: e.Code, Message: e.Message, Field: e.Field, Fields: e.Fields, Body: data}
	}
	code := wire.CodeInternal
	if res.StatusCode >= http.StatusBadGateway {
		code = wire.CodeUnavailable
	}
	return &Error{Status: res.StatusCode, Code: code, Message: "the server answered " + res.Status}
}

// retryAfter is the pause that the server asks for, at most 30 s, 0 for none.
func retryAfter(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, 30*time.Second)
}
