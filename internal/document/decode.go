package document

import (
	"encoding"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/internal/strictjson"
	"vjob/internal/suggest"
)

// Passage holds a text, or the source text of any other value in the document, for a parser
// of its own.
type Passage string

// Extensible is a struct that takes keys besides those of its fields. Their values are text.
type Extensible interface {
	ExtraKeys() []string
	SetExtra(key, text string)
}

// decoder decodes the nodes of one document into Go values.
type decoder struct {
	doc     *Document
	anchors map[string]ast.Node
}

// value decodes a node into dst, which can be addressed.
func (d *decoder) value(node ast.Node, dst reflect.Value) error {
	switch n := node.(type) {
	case *ast.AnchorNode:
		d.anchors[n.Name.GetToken().Value] = n.Value
		return d.value(n.Value, dst)
	case *ast.AliasNode:
		target, ok := d.anchors[n.Value.GetToken().Value]
		if !ok {
			return d.invalid(n, n.String(), "an anchor that was defined before")
		}
		return d.value(target, dst)
	case *ast.TagNode:
		return d.invalid(n, n.GetToken().Value, "a value without a tag")
	}
	d.doc.places[pathOf(node)] = node.GetToken().Position
	null := node.Type() == ast.NullType
	switch target := dst.Addr().Interface().(type) {
	case *json.RawMessage: // allowed, but ignored
		return nil
	case *Passage:
		text, ok := scalarText(node)
		if !ok && !null {
			text = node.String()
		}
		*target = Passage(text)
		return nil
	case encoding.TextUnmarshaler:
		if !null {
			return d.text(node, target)
		}
	}
	switch kind := dst.Kind(); {
	case null: // as if the key were not there
		return nil
	case kind == reflect.Pointer:
		if dst.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		return d.value(node, dst.Elem())
	case kind == reflect.Struct:
		return d.structure(node, dst)
	case kind == reflect.Map:
		return d.mapping(node, dst)
	case kind == reflect.Slice:
		return d.sequence(node, dst)
	}
	return d.scalar(node, dst)
}

func (d *decoder) structure(node ast.Node, dst reflect.Value) error {
	entries, ok := node.(ast.MapNode)
	if !ok {
		return d.invalid(node, show(node), "keys and values")
	}
	fields := fieldpath.Fields(dst.Type())
	names := slices.Sorted(maps.Keys(fields))
	extra, _ := reflect.TypeAssert[Extensible](dst.Addr())
	if extra != nil {
		names = append(names, extra.ExtraKeys()...)
	}
	for e := entries.MapRange(); e.Next(); {
		key := e.Key().GetToken().Value
		field, ok := fields[key]
		if ok {
			if err := d.value(e.Value(), dst.FieldByIndex(field.Index)); err != nil {
				return err
			}
			continue
		}
		if !slices.Contains(names, key) {
			return d.invalid(e.Key(), "unknown key", wantKey(key, names))
		}
		var text *string
		if err := d.value(e.Value(), reflect.ValueOf(&text).Elem()); err != nil {
			return err
		}
		if text != nil {
			extra.SetExtra(key, *text)
		}
	}
	return nil
}

func (d *decoder) mapping(node ast.Node, dst reflect.Value) error {
	entries, ok := node.(ast.MapNode)
	if !ok {
		return d.invalid(node, show(node), "keys and values")
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for e := entries.MapRange(); e.Next(); {
		item := reflect.New(dst.Type().Elem()).Elem()
		if err := d.value(e.Value(), item); err != nil {
			return err
		}
		dst.SetMapIndex(reflect.ValueOf(e.Key().GetToken().Value).Convert(dst.Type().Key()), item)
	}
	return nil
}

func (d *decoder) sequence(node ast.Node, dst reflect.Value) error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return d.invalid(node, show(node), "a list")
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		if err := d.value(item, dst.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// text decodes a type with its own notation, such as "512MiB".
func (d *decoder) text(node ast.Node, target encoding.TextUnmarshaler) error {
	s, ok := scalarText(node)
	if !ok {
		return d.invalid(node, show(node), "a single value")
	}
	err := target.UnmarshalText([]byte(s))
	if field, ok := errors.AsType[*cluster.FieldError](err); ok {
		return d.invalid(node, show(node), field.Want)
	}
	if err != nil {
		return d.invalid(node, show(node), err.Error())
	}
	return nil
}

func (d *decoder) scalar(node ast.Node, dst reflect.Value) error {
	text, single := scalarText(node)
	var fits bool
	switch dst.Kind() {
	case reflect.String: // the source text: a name may be 010, and a version 1.50
		if single {
			dst.SetString(text)
			return nil
		}
	case reflect.Bool:
		fits = node.Type() == ast.BoolType
	case reflect.Float64:
		fits = node.Type() == ast.IntegerType || node.Type() == ast.FloatType
		f, err := strconv.ParseFloat(text, 64)
		if plain := node.GetToken().Type == token.StringType; plain && err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			dst.SetFloat(f) // 1e3 is text to YAML
			return nil
		}
	default:
		fits = node.Type() == ast.IntegerType
	}
	if fits && yaml.NodeToValue(node, dst.Addr().Interface()) == nil {
		return nil
	}
	return d.invalid(node, show(node), strictjson.KindName(dst.Type()))
}

func (d *decoder) invalid(node ast.Node, value, want string) error {
	path := pathOf(node)
	if path == "" {
		path = "document"
	}
	at := node.GetToken().Position
	return &Error{
		Document: d.doc.Name, Line: at.Line, Column: at.Column,
		Field: &cluster.FieldError{Field: path, Value: value, Want: want},
	}
}

// pathOf returns the key of a node as errors name it, such as "nodes[0].cpu"; "" is the document.
func pathOf(node ast.Node) string {
	path := strings.TrimPrefix(strings.TrimPrefix(node.GetPath(), "$"), ".")
	return strings.ReplaceAll(path, "'", "") // the library quotes keys with dots
}

// scalarText returns the unquoted source text of a single value.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// show returns the value of a node for an error message.
func show(node ast.Node) string {
	switch node.(type) {
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "keys and values"
	}
	if s, ok := scalarText(node); ok {
		return shortened(s)
	}
	return shortened(node.String())
}

// shortened quotes a value, shortened, for an error message.
func shortened(s string) string {
	return strconv.Quote(strings.TrimSpace(cluster.Shortened(s, 80)))
}

// wantKey returns the nearest known key, if any, and all known keys.
func wantKey(key string, names []string) string {
	slices.Sort(names)
	all := "one of " + strings.Join(names, ", ")
	if near := suggest.Nearest(key, names); near != "" {
		return "probably " + near + "; " + all
	}
	return all
}
