package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"vjob/api/wire"
)

// mediaJSON is the media type of most bodies and answers.
const mediaJSON = "application/json"

// documentHandler answers requests for the OpenAPI document.
type documentHandler struct {
	// document and compressed make the document at the first request: it takes longer than all else
	// when a server starts.
	document, compressed func() ([]byte, error)
}

// show answers GET /v1/openapi.json, compressed if that is accepted.
func (h *documentHandler) show(c *gin.Context, _ Subject) error {
	packed := strings.Contains(c.GetHeader("Accept-Encoding"), "gzip")
	get := h.document
	if packed {
		get = h.compressed
	}
	document, err := get()
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	c.Header("Vary", "Accept-Encoding")
	if packed {
		c.Header("Content-Encoding", "gzip")
	}
	send(c, contentJSON, "", document)
	return nil
}

// describe sets the table of endpoints of the document, which also routes the requests.
func (h *documentHandler) describe(table []Endpoint) {
	h.document = sync.OnceValues(func() ([]byte, error) {
		doc, err := describeAPI(table)
		if err != nil {
			return nil, err
		}
		return doc.MarshalJSON()
	})
	h.compressed = sync.OnceValues(func() ([]byte, error) {
		document, err := h.document()
		if err != nil {
			return nil, err
		}
		return compress(document)
	})
}

// compress compresses a document.
func compress(document []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(document)
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}

// describeAPI returns the OpenAPI 3 document of a table of endpoints and of the wire types that it names.
func describeAPI(table []Endpoint) (*openapi3.T, error) {
	s := newSchemas()
	responses, err := describeFailures(s, table)
	if err != nil {
		return nil, err
	}
	doc := &openapi3.T{
		OpenAPI: "3.0.3",
		Info: &openapi3.Info{
			Title: "vjob", Version: "1",
			Description: "Batch jobs made of virtual machines. Unknown fields and parameters are refused; units end the names; times are RFC 3339 in UTC.",
		},
		Paths: openapi3.NewPaths(),
		Components: &openapi3.Components{
			Schemas: s.components,
			SecuritySchemes: openapi3.SecuritySchemes{"token": &openapi3.SecuritySchemeRef{
				Value: openapi3.NewSecurityScheme().WithType("http").WithScheme("bearer").
					WithDescription("Not needed on the unix socket, where the kernel identifies the caller."),
			}},
			Responses: responses,
		},
	}
	for i := range table {
		op, err := table[i].describe(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", table[i].Name, err)
		}
		path := openPath(table[i].Path)
		item := doc.Paths.Value(path)
		if item == nil {
			item = &openapi3.PathItem{}
			doc.Paths.Set(path, item)
		}
		item.SetOperation(table[i].Method, op)
	}
	return doc, nil
}

// describeFailures returns the components of failures in each shape of the table.
func describeFailures(s *schemas, table []Endpoint) (openapi3.ResponseBodies, error) {
	all, err := s.failureResponses("", wire.Error{}, func(_ int, body wire.ErrorBody) any { return wire.Error{Error: body} })
	if err != nil {
		return nil, err
	}
	shapes := map[*ErrorShape]bool{nil: true}
	for i := range table {
		shape := table[i].Errors
		if shapes[shape] {
			continue
		}
		shapes[shape] = true
		zero := shape.Show(http.StatusOK, wire.ErrorBody{}, nil)
		more, err := s.failureResponses(shape.Name, zero, func(status int, body wire.ErrorBody) any { return shape.Show(status, body, nil) })
		if err != nil {
			return nil, err
		}
		maps.Copy(all, more)
	}
	return all, nil
}

// openPath turns gin's ":name" into OpenAPI's "{name}".
func openPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// describe returns the OpenAPI operation of the endpoint.
func (e *Endpoint) describe(s *schemas) (*openapi3.Operation, error) {
	op := openapi3.NewOperation()
	op.OperationID, op.Summary, op.Security, op.Parameters = e.Name, e.Summary, openapi3.NewSecurityRequirements(), e.parameters()
	if e.Access != Public {
		op.Security.With(openapi3.NewSecurityRequirement().Authenticate("token"))
	}
	if e.Access == Administrators {
		op.Description = "For administrators."
	}
	if e.Body != nil {
		body, err := s.of(e.Body)
		if err != nil {
			return nil, err
		}
		content := openapi3.NewContentWithJSONSchemaRef(body)
		content[mediaJSON].Example = examples()[e.Name].Request
		op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(true).WithContent(content)}
	}
	content, err := e.content(s)
	if err != nil {
		return nil, err
	}
	op.Responses = openapi3.NewResponsesWithCapacity(len(failures) + 2)
	e.addFailures(op.Responses)
	success := func(status int, description string) {
		response := openapi3.NewResponse().WithDescription(description).WithContent(content)
		if e.tagged() {
			response.Headers = openapi3.Headers{"ETag": &openapi3.HeaderRef{Value: entityTagHeader}}
		}
		op.Responses.Set(strconv.Itoa(status), &openapi3.ResponseRef{Value: response})
	}
	if e.tagged() && e.Verb == Read {
		op.Responses.Set(strconv.Itoa(http.StatusNotModified), &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The answer is still the one with the tag of `If-None-Match`.")})
	}
	success(e.Status, "Success.")
	switch e.Name {
	case "submitVJob":
		success(http.StatusOK, "The key was used before: the vjob that it created.")
	case "getHealth":
		success(http.StatusServiceUnavailable, "Not ready.")
	}
	return op, nil
}

// content returns the media types of the answer; nil without an answer.
func (e *Endpoint) content(s *schemas) (openapi3.Content, error) {
	var content openapi3.Content
	if e.Result != nil {
		result, err := s.of(e.Result)
		if err != nil {
			return nil, err
		}
		content = openapi3.NewContentWithJSONSchemaRef(result)
		content[mediaJSON].Example = examples()[e.Name].Answer
	}
	media, text := e.Media, openapi3.NewStringSchema()
	switch {
	case e.class == streams:
		media, text.Description = mediaEvents, "Messages with an Event as data, and its seq as id."
	case e.Lines:
		media, text.Description = wire.MediaLines, "Each line is an entry of the list in JSON. `X-Total-Count` has the number of all, unless there is a cursor."
	case media == "":
		return content, nil
	case !strings.HasPrefix(media, "text/"):
		text.Format = "binary"
	}
	if content == nil {
		content = openapi3.NewContent()
	}
	content[media] = openapi3.NewMediaType().WithSchema(text)
	return content, nil
}

// pathVariables describes the variables in paths, by the part before.
var pathVariables = map[string]string{
	"vjobs": "number or name of the vjob, or one of an array such as sweep[3]; with array=true, of the array", "plans": "number of the context switch", "recommendations": "number of the recommendation",
	"alarms": "number of the alarm", "tokens": "number of the token", "nodes": "name of the node", "pools": "name of the pool", "users": "name of the account",
	"orphans": "name of the image", "jobs": "number of the job", "array": "number of the first job of the array", "resources": "name of the node, or its number",
	"signals": "number of the signal", "signal": "number of the signal",
}

// parameters returns the parameters in the path, the query and the header of a request.
func (e *Endpoint) parameters() (list openapi3.Parameters) {
	add := func(p *openapi3.Parameter) { list = append(list, &openapi3.ParameterRef{Value: p}) }
	before := ""
	for part := range strings.SplitSeq(e.Path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			kind := openapi3.TypeString
			if name == "id" && before != "vjobs" {
				kind = openapi3.TypeInteger
			}
			add(openapi3.NewPathParameter(name).WithDescription(pathVariables[before]).WithSchema(&openapi3.Schema{Type: &openapi3.Types{kind}}))
		}
		before = part
	}
	for _, p := range e.Query {
		schema := &openapi3.Schema{Type: &openapi3.Types{p.Kind}}
		if p.Many {
			schema = openapi3.NewArraySchema().WithItems(schema)
		}
		add(openapi3.NewQueryParameter(p.Name).WithDescription(p.Meaning).WithSchema(schema))
	}
	header := func(name, what string) {
		add(openapi3.NewHeaderParameter(name).WithDescription(what).WithSchema(openapi3.NewStringSchema()))
	}
	if e.Preconditions != Unconditional {
		header("If-Match", "The `ETag` of an earlier answer: the change is made only if nothing has changed the thing since; else 412. `*`: only if it exists.")
	}
	if e.Preconditions == ConditionalMake {
		header("If-None-Match", "`*`: only if it does not exist; else 412.")
	}
	if e.tagged() && e.Verb == Read {
		header("If-None-Match", "The `ETag` of an earlier answer: 304 without content while the answer is the same.")
	}
	switch e.Name {
	case "submitVJob":
		header(wire.KeyHeader, "Makes it safe to repeat the submission: the same key returns the same vjob. At most 128 characters.")
	case "listEvents":
		header("Last-Event-ID", "The stream continues after this event.")
	}
	return list
}
