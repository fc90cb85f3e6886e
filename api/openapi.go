package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
)

// openAPI describes the table of endpoints and the wire types that it names as an
// OpenAPI 3 document. The same table routes the requests, so the two agree.
func openAPI(table []endpoint) ([]byte, error) {
	schemas := schemaSet{}
	paths := map[string]map[string]any{}
	for _, e := range table {
		path := openPath(e.path)
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(e.method)] = e.describe(schemas)
	}
	schemas.add(reflect.TypeFor[wire.Error]())
	components := map[string]any{
		"schemas": map[string]any(schemas),
		"securitySchemes": map[string]any{
			"token": map[string]any{"type": "http", "scheme": "bearer", "description": "Not needed on the unix socket, where the kernel says who calls."},
		},
		"responses": map[string]any{"Error": map[string]any{
			"description": "Every answer that is not a success.",
			"content":     jsonContent(schemas.ref(reflect.TypeFor[wire.Error]())),
		}},
	}
	data, err := json.Marshal(map[string]any{
		"openapi": "3.0.3",
		"info": map[string]any{
			"title": "vjob", "version": "1",
			"description": "Batch jobs made of virtual machines. Unknown fields and parameters are refused; units end the names; times are RFC 3339 in UTC.",
		},
		"paths": paths, "components": components,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return data, nil
}

// openAPI answers GET /v1/openapi.json, compressed if that is accepted.
func (s *Server) openAPI(c *gin.Context, _ Subject) error {
	document := s.document
	c.Header("Vary", "Accept-Encoding")
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		c.Header("Content-Encoding", "gzip")
		document = s.compressed()
	}
	c.Header("Content-Length", strconv.Itoa(len(document)))
	c.Data(http.StatusOK, "application/json; charset=utf-8", document)
	return nil
}

// compress compresses a document.
func compress(document []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(document)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // memory takes everything
	}
	return packed.Bytes()
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

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// describe is the OpenAPI operation of the endpoint.
func (e endpoint) describe(schemas schemaSet) map[string]any {
	op := map[string]any{"operationId": e.operation, "summary": e.summary, "security": []any{}}
	switch e.access {
	case public:
	case authenticated:
		op["security"] = []any{map[string]any{"token": []any{}}}
	case administrator:
		op["security"] = []any{map[string]any{"token": []any{}}}
		op["description"] = "For administrators."
	}
	if params := e.params(); len(params) > 0 {
		op["parameters"] = params
	}
	if e.body != nil {
		op["requestBody"] = map[string]any{"required": true, "content": jsonContent(schemas.ref(reflect.TypeOf(e.body)))}
	}
	responses := map[string]any{"default": map[string]any{"$ref": "#/components/responses/Error"}}
	if e.failure != nil {
		responses["default"] = map[string]any{
			"description": "Every answer that is not a success.", "content": jsonContent(schemas.ref(reflect.TypeOf(e.failure))),
		}
	}
	success := map[string]any{"description": "Success."}
	content := map[string]any{}
	if e.result != nil {
		content = jsonContent(e.shapes(schemas))
	}
	if e.media != "" {
		schema := map[string]any{"type": "string"}
		if !strings.HasPrefix(e.media, "text/") {
			schema["format"] = "binary"
		}
		content[e.media] = map[string]any{"schema": schema}
	} else if e.class == streams {
		content["text/event-stream"] = map[string]any{"schema": map[string]any{"type": "string", "description": "Messages with an Event as data, and its seq as id."}}
	}
	if len(content) > 0 {
		success["content"] = content
	}
	responses[strconv.Itoa(e.status)] = success
	switch e.operation {
	case "submitVJob":
		responses["200"] = map[string]any{"description": "The key was used before: the vjob that it created.", "content": content}
	case "getHealth":
		responses["503"] = map[string]any{"description": "Not ready.", "content": content}
	}
	op["responses"] = responses
	return op
}

// shapes is the schema of what is answered: the result, or another shape of it.
func (e endpoint) shapes(schemas schemaSet) any {
	first := schemas.ref(reflect.TypeOf(e.result))
	if len(e.also) == 0 {
		return first
	}
	shapes := []any{first}
	for _, other := range e.also {
		shapes = append(shapes, schemas.ref(reflect.TypeOf(other)))
	}
	return map[string]any{"anyOf": shapes}
}

func (e endpoint) params() []any {
	var list []any
	for part := range strings.SplitSeq(e.path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			kind := "string"
			if name == "id" {
				kind = "integer"
			}
			list = append(list, map[string]any{"name": name, "in": "path", "required": true, "schema": map[string]any{"type": kind}})
		}
	}
	for _, p := range e.query {
		var schema any = map[string]any{"type": p.kind}
		if p.many {
			schema = map[string]any{"type": "array", "items": schema}
		}
		list = append(list, map[string]any{"name": p.name, "in": "query", "description": p.what, "schema": schema})
	}
	header := func(name, what string) {
		list = append(list, map[string]any{"name": name, "in": "header", "description": what, "schema": map[string]any{"type": "string"}})
	}
	switch e.operation {
	case "submitVJob":
		header(wire.KeyHeader, "Makes it safe to repeat the submission: the same key returns the same vjob. At most 128 characters.")
	case "listEvents":
		header("Last-Event-ID", "The stream continues after this event.")
	}
	return list
}

// schemaSet is the schemas of the wire types by name.
type schemaSet map[string]any

// ref is a reference to the schema of a named type, which is added if need be, or
// the schema itself of any other.
func (s schemaSet) ref(t reflect.Type) any {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.ref(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case isText(t):
		return map[string]any{"type": "string"}
	case t.Kind() == reflect.Struct:
		s.add(t)
		return map[string]any{"$ref": "#/components/schemas/" + schemaName(t)}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": s.ref(t.Elem())}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Interface:
		return map[string]any{"type": "object"}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.ref(t.Elem())}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	default:
		return map[string]any{"type": "integer", "format": "int64"}
	}
}

var generic = regexp.MustCompile(`\[(?:.*[./])?(\w+)\]$`)

// schemaName is the name of a type in the document. Those of dialects do not clash with
// our own.
func schemaName(t reflect.Type) string {
	name := generic.ReplaceAllString(t.Name(), "Of$1")
	if strings.Contains(t.PkgPath(), "/oar") {
		return "OAR" + name
	}
	return name
}

// add describes a struct: fields without omitempty are always there, and there
// are no others.
func (s schemaSet) add(t reflect.Type) {
	if s[schemaName(t)] != nil {
		return
	}
	properties := map[string]any{}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	s[schemaName(t)] = schema
	required := []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		properties[name] = s.ref(f.Type)
		if p, ok := properties[name].(map[string]any); ok && nullable(t, f) {
			p["nullable"] = true
		}
		if options == "" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	if len(required) > 0 {
		schema["required"] = required
	}
	for _, field := range slices.Sorted(maps.Keys(enumerations[t.Name()])) {
		if p, ok := properties[field].(map[string]any); ok {
			p["enum"] = enumerations[t.Name()][field]
		}
	}
}

// nullable reports whether a field of an answer is null when there is nothing to tell. A
// walltime that is to be changed is not.
func nullable(t reflect.Type, f reflect.StructField) bool {
	return f.Type.Kind() == reflect.Pointer && !strings.Contains(f.Tag.Get("json"), "omitempty") && t != reflect.TypeFor[wire.VJobChange]()
}

// enumerations are the texts that some fields are limited to.
var enumerations = map[string]map[string][]string{
	"NodesChange": {"state": {"online", "draining", "offline", "down"}},
	"NodeChange":  {"state": {"online", "draining", "offline", "down"}},
	"User":        {"role": {"user", "admin"}},
	"UserChange":  {"role": {"user", "admin"}},
	"Identity":    {"role": {"user", "admin"}, "via": {"socket", "token"}},
	"VJob":        {"state": vjobStates},
	"VJobDetail":  {"state": vjobStates},
	"Node":        {"state": {"online", "draining", "offline", "down"}},
	"ErrorBody": {"code": {
		wire.CodeInvalid, wire.CodeNotFound, wire.CodeConflict, wire.CodeForbidden, wire.CodeUnauthenticated,
		wire.CodeTooMany, wire.CodeUnavailable, wire.CodeTooLarge, wire.CodeMethod, wire.CodeInternal,
	}},
}

var vjobStates = []string{
	"waiting", "booting", "running", "suspending", "paused", "suspended", "resuming", "migrating", "stopping", "terminated", "failed",
}
