package document

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"vjob/cluster"
)

// binder decodes the nodes of one parsed document into Go values.
type binder struct {
	doc     *Document
	anchors map[string]ast.Node
}

// Passage holds a text, or the source text of any other value in the document, for a parser
// of its own.
type Passage string

// Extensible is a struct that takes keys besides those of its fields. Their values are text.
type Extensible interface {
	ExtraKeys() []string
	SetExtra(key, text string)
}

var (
	extensibleType = reflect.TypeFor[Extensible]()

	passageType = reflect.TypeFor[Passage]()

	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// value decodes the node into dst; path names it in errors.
func (b *binder) value(path string, node ast.Node, dst reflect.Value) error {
	node, err := b.resolve(path, node)
	if err != nil {
		return err
	}
	if t := node.GetToken(); t != nil && t.Position != nil && path != "" {
		if _, known := b.doc.places[path]; !known {
			b.doc.places[path] = place{t.Position.Line, t.Position.Column}
		}
	}
	switch {
	case dst.Type() == rawType: // allowed, but ignored
		return nil
	case dst.Type() == passageType:
		b.passage(node, dst)
		return nil
	case node.Type() == ast.NullType: // as if the key were not there
		return nil
	case dst.Kind() == reflect.Pointer:
		if dst.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		return b.value(path, node, dst.Elem())
	case dst.CanAddr() && dst.Addr().Type().Implements(textType):
		return b.text(path, node, dst.Addr().Interface().(encoding.TextUnmarshaler))
	}
	switch dst.Kind() {
	case reflect.Struct:
		return b.structure(path, node, dst)
	case reflect.Map:
		return b.mapping(path, node, dst)
	case reflect.Slice, reflect.Array:
		return b.sequence(path, node, dst)
	default:
		return b.scalar(path, node, dst)
	}
}

func (b *binder) passage(node ast.Node, dst reflect.Value) {
	text, ok := scalarText(node)
	switch {
	case node.Type() == ast.NullType:
		text = ""
	case !ok:
		text = node.String()
	}
	dst.SetString(text)
}

// resolve follows anchors, aliases and tags to the node that holds the value.
func (b *binder) resolve(path string, node ast.Node) (ast.Node, error) {
	switch n := node.(type) {
	case *ast.AnchorNode:
		b.anchors[n.Name.GetToken().Value] = n.Value
		return b.resolve(path, n.Value)
	case *ast.AliasNode:
		target, ok := b.anchors[n.Value.GetToken().Value]
		if !ok {
			return nil, b.bad(n, path, n.String(), "an anchor that was defined before")
		}
		return target, nil
	case *ast.TagNode:
		return nil, b.bad(n, path, n.GetToken().Value, "a value without a tag")
	}
	return node, nil
}

// entries lists the keys and values of a mapping, refusing repeated keys.
func (b *binder) entries(path string, node ast.Node) ([]*ast.MappingValueNode, error) {
	var list []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	default:
		return nil, b.bad(node, path, show(node), "keys and values")
	}
	seen := map[string]bool{}
	for _, e := range list {
		key := e.Key.GetToken().Value
		if e.Key.IsMergeKey() {
			return nil, b.bad(e.Key, path, "<<", "keys written out, without merging")
		}
		if seen[key] {
			return nil, b.bad(e.Key, join(path, key), "a second time", "the key once")
		}
		seen[key] = true
	}
	return list, nil
}

func (b *binder) structure(path string, node ast.Node, dst reflect.Value) error {
	entries, err := b.entries(path, node)
	if err != nil {
		return err
	}
	fields := fieldsOf(dst.Type())
	var extra Extensible
	names := slices.Collect(maps.Keys(fields))
	if dst.CanAddr() && dst.Addr().Type().Implements(extensibleType) {
		extra = dst.Addr().Interface().(Extensible)
		names = append(names, extra.ExtraKeys()...)
	}
	for _, e := range entries {
		key := e.Key.GetToken().Value
		index, ok := fields[key]
		switch {
		case !slices.Contains(names, key):
			return b.bad(e.Key, join(path, key), "unknown key", wantKey(key, names))
		case !ok:
			var text *string
			if err := b.value(join(path, key), e.Value, reflect.ValueOf(&text).Elem()); err != nil {
				return err
			}
			if text != nil {
				extra.SetExtra(key, *text)
			}
			continue
		}
		if err := b.value(join(path, key), e.Value, dst.FieldByIndex(index)); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) mapping(path string, node ast.Node, dst reflect.Value) error {
	entries, err := b.entries(path, node)
	if err != nil {
		return err
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), len(entries)))
	for _, e := range entries {
		key := e.Key.GetToken().Value
		item := reflect.New(dst.Type().Elem()).Elem()
		if err := b.value(join(path, key), e.Value, item); err != nil {
			return err
		}
		dst.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), item)
	}
	return nil
}

func (b *binder) sequence(path string, node ast.Node, dst reflect.Value) error {
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		return b.bad(node, path, show(node), "a list")
	}
	if dst.Kind() == reflect.Slice {
		dst.Set(reflect.MakeSlice(dst.Type(), len(seq.Values), len(seq.Values)))
	} else if len(seq.Values) != dst.Len() {
		return b.bad(node, path, strconv.Itoa(len(seq.Values))+" values", strconv.Itoa(dst.Len())+" values")
	}
	for i, item := range seq.Values {
		if err := b.value(fmt.Sprintf("%s[%d]", path, i), item, dst.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// text decodes a type with its own notation, such as "512MiB".
func (b *binder) text(path string, node ast.Node, target encoding.TextUnmarshaler) error {
	s, ok := scalarText(node)
	if !ok {
		return b.bad(node, path, show(node), "a single value")
	}
	err := target.UnmarshalText([]byte(s))
	var field *cluster.FieldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &field):
		return b.bad(node, path, show(node), field.Want)
	default:
		return b.bad(node, path, show(node), err.Error())
	}
}

func (b *binder) scalar(path string, node ast.Node, dst reflect.Value) error {
	switch dst.Kind() {
	case reflect.String:
		s, ok := scalarText(node)
		if !ok {
			return b.bad(node, path, show(node), "text")
		}
		dst.SetString(s)
		return nil
	case reflect.Bool:
		n, ok := node.(*ast.BoolNode)
		if !ok {
			return b.bad(node, path, show(node), "true or false")
		}
		dst.SetBool(n.Value)
		return nil
	case reflect.Float64:
		f, ok := number(node)
		if !ok {
			return b.bad(node, path, show(node), "a number")
		}
		dst.SetFloat(f)
		return nil
	default: // whole numbers, below
	}
	if n, ok := node.(*ast.IntegerNode); ok {
		switch v := n.Value.(type) {
		case int64:
			if dst.CanInt() && !dst.OverflowInt(v) {
				dst.SetInt(v)
				return nil
			}
		case uint64:
			if dst.CanInt() && v <= math.MaxInt64 && !dst.OverflowInt(int64(v)) {
				dst.SetInt(int64(v))
				return nil
			}
			if dst.CanUint() && !dst.OverflowUint(v) {
				dst.SetUint(v)
				return nil
			}
		}
	}
	return b.bad(node, path, show(node), "a whole number")
}

func (b *binder) bad(node ast.Node, path, value, want string) error {
	if path == "" {
		path = "document"
	}
	e := &Error{Document: b.doc.Name, Field: &cluster.FieldError{Field: path, Value: value, Want: want}}
	if t := node.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
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

func number(node ast.Node) (float64, bool) {
	switch n := node.(type) {
	case *ast.IntegerNode:
		f, err := strconv.ParseFloat(fmt.Sprint(n.Value), 64)
		return f, err == nil
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode: // "1e3" is text to YAML
		f, err := strconv.ParseFloat(n.Value, 64)
		unquoted := n.GetToken().Origin != "" && !strings.ContainsAny(n.GetToken().Origin, `"'`)
		return f, err == nil && unquoted && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	return 0, false
}

// show returns the value of a node for an error message.
func show(node ast.Node) string {
	if s, ok := scalarText(node); ok {
		return shortened(s)
	}
	switch node.(type) {
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	}
	return shortened(node.String())
}

// shortened quotes a value, shortened, for an error message.
func shortened(s string) string {
	const limit = 80
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strconv.Quote(strings.TrimSpace(s))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
