package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
)

// Failures that are known to this package only.
var (
	errUnauthenticated = cluster.ErrUnauthenticated
	errTooLarge        = errors.New("too large")
	errNoMethod        = errors.New("method not allowed")
)

func isNotFound(err error) bool { return errors.Is(err, cluster.ErrNotFound) }

// statuses maps sentinels to answers: the one table of the API. The first that
// matches counts.
var statuses = []struct {
	err    error
	status int
	code   string
}{
	{errTooLarge, http.StatusRequestEntityTooLarge, wire.CodeTooLarge},
	{errNoMethod, http.StatusMethodNotAllowed, wire.CodeMethod},
	{cluster.ErrInvalid, http.StatusBadRequest, wire.CodeInvalid},
	{cluster.ErrUnauthenticated, http.StatusUnauthorized, wire.CodeUnauthenticated},
	{cluster.ErrForbidden, http.StatusForbidden, wire.CodeForbidden},
	{cluster.ErrNotFound, http.StatusNotFound, wire.CodeNotFound},
	{cluster.ErrChanged, http.StatusPreconditionFailed, wire.CodeChanged},
	{cluster.ErrConflict, http.StatusConflict, wire.CodeConflict},
	{cluster.ErrTooMany, http.StatusTooManyRequests, wire.CodeTooMany},
	{cluster.ErrUnavailable, http.StatusServiceUnavailable, wire.CodeUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, wire.CodeUnavailable},
	{context.Canceled, http.StatusServiceUnavailable, wire.CodeUnavailable},
}

// withoutCode is the text of an error without the word that its code says again: "vjob 7 has ended", not "vjob 7 has
// ended: conflict".
func withoutCode(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+cluster.ErrChanged.Error())
	return strings.TrimSuffix(text, ": "+cluster.ErrConflict.Error())
}

// shownFaults is how many faults the message of an error has; its fields have all of them.
const shownFaults = 3

// addFaults adds the wrong fields to the body of an error.
func addFaults(body *wire.ErrorBody, err error) {
	faults := cluster.FieldErrors(err)
	if len(faults) == 0 {
		return
	}
	body.Field = faults[0].Field
	var texts []string
	for _, bad := range faults {
		body.Fields = append(body.Fields, wire.FieldFault{Field: bad.Field, Message: bad.Error()})
		texts = append(texts, bad.Error())
	}
	if len(faults) > 1 {
		body.Message = strings.Join(texts[:min(shownFaults, len(texts))], "; ")
	}
	if more := len(faults) - shownFaults; more > 0 {
		body.Message += fmt.Sprintf("; and %d more", more)
	}
}

// unauthenticatedMessage does not say what is wrong with the credentials.
const unauthenticatedMessage = "unauthenticated: send a valid bearer token, or use the unix socket"

// errorShapeKey is where the context of a request keeps its [ErrorShape].
const errorShapeKey = "errors"

// errorWriter answers with errors.
type errorWriter struct{ log *slog.Logger }

// write answers with an error in the shape of the endpoint. An error that is in no row of the table of
// statuses is a fault of the server: it is logged, and the answer does not show it.
func (w *errorWriter) write(c *gin.Context, err error) {
	status, body := http.StatusInternalServerError, wire.ErrorBody{
		Code: wire.CodeInternal, Message: "internal error; the log of vjobd says more",
	}
	for _, row := range statuses {
		if errors.Is(err, row.err) {
			status, body = row.status, wire.ErrorBody{Code: row.code, Message: withoutCode(err)}
			break
		}
	}
	addFaults(&body, err)
	switch status {
	case http.StatusUnauthorized:
		// The same words whatever is wrong with the credentials.
		body.Message = unauthenticatedMessage
		c.Header("WWW-Authenticate", `Bearer realm="vjob"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		c.Header("Retry-After", "1")
	case http.StatusInternalServerError:
		w.log.LogAttrs(c.Request.Context(), slog.LevelError, "request failed",
			slog.String("method", c.Request.Method), slog.String("route", c.FullPath()), slog.String("error", err.Error()))
	}
	if c.Writer.Written() { // the headers are gone: a broken connection tells the caller that the answer is not whole
		panic(http.ErrAbortHandler)
	}
	if shape, ok := c.Get(errorShapeKey); ok {
		c.Abort()
		c.JSON(status, shape.(*ErrorShape).Show(status, body, err))
		return
	}
	c.AbortWithStatusJSON(status, wire.Error{Error: body})
}
