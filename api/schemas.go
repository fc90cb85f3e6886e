package api

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/strictjson"
)

// schemas generates the schemas of wire types. Those of structs are components, to which others refer.
type schemas struct {
	generator  *openapi3gen.Generator
	components openapi3.Schemas
}

func newSchemas() *schemas {
	return &schemas{
		components: openapi3.Schemas{},
		generator: openapi3gen.NewGenerator(
			openapi3gen.CreateComponentSchemas(openapi3gen.ExportComponentSchemasOptions{ExportComponentSchemas: true, ExportTopLevelSchema: true, ExportGenerics: true}),
			openapi3gen.CreateTypeNameGenerator(schemaName),
			openapi3gen.SchemaCustomizer(refine),
		),
	}
}

// of returns the schema of a zero value, or of the values of a [OneOf].
func (s *schemas) of(value any) (*openapi3.SchemaRef, error) {
	list, several := value.(OneOf)
	if !several {
		return s.generator.NewSchemaRefForValue(value, s.components)
	}
	union := openapi3.NewSchema()
	for _, one := range list {
		ref, err := s.generator.NewSchemaRefForValue(one, s.components)
		if err != nil {
			return nil, err
		}
		union.AnyOf = append(union.AnyOf, ref)
	}
	return union.NewRef(), nil
}

var generic = regexp.MustCompile(`\[(?:.*[./])?(\w+)\]$`)

// schemaName returns the name of a type in the document: OAR before those of its dialect, and none for
// types of the domain, which become part of the schemas that use them.
func schemaName(t reflect.Type) string {
	name := generic.ReplaceAllString(t.Name(), "Of$1")
	switch t.PkgPath() {
	case reflect.TypeFor[wire.Error]().PkgPath():
		return name
	case reflect.TypeFor[cluster.Terms]().PkgPath():
		return ""
	default:
		return "OAR" + name
	}
}

// refine adds to a generated schema what the generator does not know: which fields are required and
// which are limited to some texts, that there are no others, and that fields with omitempty or omitzero
// are left out, not null.
func refine(_ string, t reflect.Type, tag reflect.StructTag, schema *openapi3.Schema) error {
	if _, options, _ := strings.Cut(tag.Get("json"), ","); options != "" {
		schema.Nullable = false
	}
	if strictjson.IsText(t) && t != reflect.TypeFor[time.Time]() {
		*schema = *openapi3.NewStringSchema()
	}
	if several, ok := reflect.TypeAssert[formed](reflect.Zero(t)); ok {
		*schema = *formsOf(several)
	}
	if schema.Type.Is(openapi3.TypeInteger) {
		schema.Format = "int64"
	}
	if t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Interface {
		schema.AdditionalProperties = openapi3.AdditionalProperties{} // the values may be null, too
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	schema.AdditionalProperties = openapi3.AdditionalProperties{Has: new(bool)}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && options == "" {
			schema.Required = append(schema.Required, name)
		}
	}
	if f, ok := t.FieldByName("Terms"); ok && f.Anonymous && f.Type == reflect.TypeFor[wire.Terms]() {
		// The generator takes those of cluster.Terms, which are deeper.
		schema.Properties["shapes"] = openapi3.NewArraySchema().NewRef()
		schema.Properties["inner"] = formsOf(wire.VJobName("")).NewRef()
		schema.Properties["shapes"].Value.Items = openapi3.NewSchemaRef("#/components/schemas/Shape", &openapi3.Schema{})
	}
	if t == reflect.TypeFor[cluster.Dependency]() {
		schema.Required = nil // requests have on or name, and need no condition
	}
	slices.Sort(schema.Required)
	for field, texts := range enumerations[t.Name()] {
		for _, text := range texts {
			schema.Properties[field].Value.Enum = append(schema.Properties[field].Value.Enum, text)
		}
	}
	describeStruct(t, schema)
	return nil
}

// formed is a type that requests may write in several forms.
type formed interface {
	// JSONForms returns a value of each.
	JSONForms() []any
}

// formsOf returns the schema of a type with several forms.
func formsOf(several formed) *openapi3.Schema {
	schema := openapi3.NewSchema()
	for _, form := range several.JSONForms() {
		schema.AnyOf = append(schema.AnyOf, formOf(form).NewRef())
	}
	return schema
}

// formOf returns the schema of a value.
func formOf(value any) *openapi3.Schema {
	switch value.(type) {
	case string:
		return openapi3.NewStringSchema()
	case bool:
		return openapi3.NewBoolSchema()
	case int:
		return openapi3.NewInt64Schema()
	case float64:
		return openapi3.NewFloat64Schema()
	default:
		return openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema())
	}
}

// enumerations are the texts that some fields are limited to.
var enumerations = map[string]map[string][]string{
	"NodesChange":   {"state": {"online", "draining", "offline", "down"}},
	"NodeChange":    {"state": {"online", "draining", "offline", "down"}},
	"User":          {"role": {"user", "admin"}},
	"UserChange":    {"role": {"user", "admin"}},
	"Identity":      {"role": {"user", "admin"}, "via": {"socket", "token"}},
	"Doctor":        {"level": {"green", "yellow", "red"}},
	"Finding":       {"level": {"green", "yellow", "red"}},
	"SettingChange": {"kind": {"changed", "added", "removed"}, "effect": {"live", "restart"}},
	"VJob":          {"state": vjobStates},
	"VJobDetail":    {"state": vjobStates},
	"Node":          {"state": {"online", "draining", "offline", "down"}},
	"ErrorBody": {"code": {
		wire.CodeInvalid, wire.CodeNotFound, wire.CodeConflict, wire.CodeChanged, wire.CodeForbidden, wire.CodeUnauthenticated,
		wire.CodeTooMany, wire.CodeUnavailable, wire.CodeTooLarge, wire.CodeMethod, wire.CodeInternal,
	}},
}

var vjobStates = []string{
	"waiting", "booting", "running", "suspending", "paused", "suspended", "resuming", "migrating", "stopping", "terminated", "failed",
}
