package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"vjob/api/wire"
)

// failure is an answer that is not a success, as the OpenAPI document describes it.
type failure struct {
	status        int
	name, meaning string
	body          wire.ErrorBody // example
}

// failures are those that operations may have, in the order of their statuses. [Endpoint.fails] says which.
var failures = []failure{
	{http.StatusBadRequest, "Invalid", "The request is wrong: `fields` has each wrong field.", wire.ErrorBody{
		Code: wire.CodeInvalid, Message: "priority: 9000000 is not from -1000000 to 1000000", Field: "priority",
		Fields: []wire.FieldFault{{Field: "priority", Message: "priority: 9000000 is not from -1000000 to 1000000"}},
	}},
	{http.StatusUnauthorized, "Unauthenticated", "The caller is not authenticated.", wire.ErrorBody{
		Code: wire.CodeUnauthenticated, Message: unauthenticatedMessage,
	}},
	{http.StatusForbidden, "Forbidden", "The caller lacks the permission.", wire.ErrorBody{Code: wire.CodeForbidden, Message: "alice may not change this: forbidden"}},
	{http.StatusNotFound, "NotFound", "There is no such thing, or the caller may not see it.", wire.ErrorBody{Code: wire.CodeNotFound, Message: "vjob 7: not found"}},
	{http.StatusConflict, "Conflict", "The request contradicts the present state.", wire.ErrorBody{
		Code: wire.CodeConflict, Message: "vjob 7 has ended (completed at 2026-11-21 08:00:07 UTC): its guests shut themselves down",
	}},
	{http.StatusPreconditionFailed, "Changed", "The thing is not as `If-Match` or `If-None-Match` requires; nothing is changed.", wire.ErrorBody{
		Code: wire.CodeChanged, Message: "vjob 7 has changed since it was read: read it again and, if the request is still right, repeat it with the new ETag as If-Match",
	}},
	{http.StatusRequestEntityTooLarge, "TooLarge", "The body is too long; nothing was read.", wire.ErrorBody{
		Code: wire.CodeTooLarge, Message: "body: too long, want at most 1048576 bytes", Field: "body",
		Fields: []wire.FieldFault{{Field: "body", Message: "body: too long, want at most 1048576 bytes"}},
	}},
	{http.StatusTooManyRequests, "TooMany", "A limit of rate or quantity was exceeded; try again after `Retry-After` seconds.", wire.ErrorBody{
		Code: wire.CodeTooMany, Message: "too many requests at once: too many",
	}},
	{http.StatusServiceUnavailable, "Unavailable", "The daemon cannot answer now; try again after `Retry-After` seconds.", wire.ErrorBody{
		Code: wire.CodeUnavailable, Message: "the daemon is not ready: unavailable",
	}},
}

// fails reports whether an operation may answer with a status of failures.
func (e *Endpoint) fails(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return e.Access != Public
	case http.StatusNotFound:
		names := func(p Param) bool { return p.Name == "vjob" || p.Name == "array" }
		return strings.Contains(e.Path, ":") || e.Verb != Read || e.Body != nil || slices.ContainsFunc(e.Query, names)
	case http.StatusConflict:
		return e.Verb != Read || e.class == logs
	case http.StatusPreconditionFailed:
		return e.Preconditions != Unconditional
	case http.StatusRequestEntityTooLarge:
		return e.Body != nil
	default: // unknown parameters are refused everywhere, and the limits hold for all
		return true
	}
}

// failureResponses are the components of failures in a shape of errors: with the prefix of its name, and the example that
// it makes of an error.
func (s *schemas) failureResponses(prefix string, shape any, show func(status int, body wire.ErrorBody) any) (openapi3.ResponseBodies, error) {
	schema, err := s.of(shape)
	if err != nil {
		return nil, err
	}
	all := openapi3.ResponseBodies{}
	add := func(name, meaning string, example any) {
		media := openapi3.NewMediaType().WithSchemaRef(schema)
		media.Example = example
		response := openapi3.NewResponse().WithDescription(meaning).WithContent(openapi3.Content{mediaJSON: media})
		all[prefix+name] = &openapi3.ResponseRef{Value: response}
	}
	for _, f := range failures {
		add(f.name, f.meaning, show(f.status, f.body))
	}
	add("Error", "Every other answer that is not a success.", nil)
	return all, nil
}

// addFailures adds the failures of an operation to its responses.
func (e *Endpoint) addFailures(responses *openapi3.Responses) {
	const components = "#/components/responses/"
	prefix := ""
	if e.Errors != nil {
		prefix = e.Errors.Name
	}
	for _, f := range failures {
		if e.fails(f.status) {
			responses.Set(strconv.Itoa(f.status), &openapi3.ResponseRef{Ref: components + prefix + f.name})
		}
	}
	responses.Set("default", &openapi3.ResponseRef{Ref: components + prefix + "Error"})
}
