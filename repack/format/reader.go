package format

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"vjob/internal/fieldpath"
	"vjob/internal/fileio"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a file. The memory that reading takes is a small multiple of what is in the file.
const (
	maxFile  = 1 << 30 // bytes, after decompression
	maxToken = 1 << 16 // bytes of one string or number, and of the white space before it
	maxDepth = 100     // levels of nesting in values that are ignored
)

// reader reads the values of a document in their order and knows their places. The first error stays;
// from then on every method returns zero values.
type reader struct {
	tokens *jsontext.Decoder
	keys   [][]string // of the objects that are open
	names  map[string]string
	from   Place // where the last value or key begins
	err    *Error

	// The place of the next token.
	offset, lineStart int64
	line              int32
	kind              jsontext.Kind // 0: peek has not looked at it yet
}

// open returns a reader of a file, which may be compressed by gzip.
func open(in io.Reader) *reader {
	r := &reader{line: 1, names: map[string]string{}}
	file, err := fileio.Open(in)
	r.tokens = jsontext.NewDecoder(&input{in: file, reader: r})
	if err != nil {
		r.fail("cannot be read: " + err.Error())
	}
	return r
}

// input limits what the decoder of a reader takes in, which holds one token in memory. Its errors are the
// texts of messages.
type input struct {
	in     io.Reader
	reader *reader
	read   int64
}

// Read reads a part that is small beside the limits.
func (i *input) Read(p []byte) (int, error) {
	switch {
	case i.read > maxFile:
		return 0, fmt.Errorf("longer than %d MiB", maxFile>>20)
	case i.read-i.reader.tokens.InputOffset() > maxToken:
		return 0, fmt.Errorf("a string, a number or white space longer than %d bytes", maxToken)
	}
	n, err := i.in.Read(p[:min(len(p), 1<<12)])
	i.read += int64(n)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file is cut off: the compressed data ends in the middle")
	case err != nil && !errors.Is(err, io.EOF):
		err = fmt.Errorf("cannot be read: %w", err)
	}
	return n, err
}

// peek returns the kind of the next token; 0 at the end of the file and after an error.
func (r *reader) peek() jsontext.Kind {
	switch {
	case r.err != nil:
		return 0
	case r.kind != 0:
		return r.kind
	}
	r.kind = r.tokens.PeekKind()
	if r.kind == 0 {
		_, err := r.tokens.ReadToken()
		r.decodingError(err)
		return 0
	}
	r.skipSpace(math.MaxInt64)
	return r.kind
}

// skipSpace moves the place of the next token behind white space and a delimiter, at most to an offset.
func (r *reader) skipSpace(most int64) {
	begin := r.tokens.InputOffset()
	r.offset = max(r.offset, begin)
	for _, c := range r.tokens.UnreadBuffer()[r.offset-begin:] {
		switch {
		case r.offset == most:
			return
		case c == '\n':
			r.line++
			r.lineStart = r.offset + 1
		case c != ' ' && c != '\t' && c != '\r' && c != ',' && c != ':':
			return
		}
		r.offset++
	}
}

// place returns the place of the next token.
func (r *reader) place() Place {
	r.peek()
	return r.placeOf(r.offset)
}

// placeOf returns the place of an offset in the line of the next token.
func (r *reader) placeOf(offset int64) Place {
	return Place{r.line, int32(min(offset-r.lineStart+1, 1<<31-1))}
}

// decodingError fails because of an error of the decoder.
func (r *reader) decodingError(err error) {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		text := "the file ends too early: it is cut off, or empty"
		if !errors.Is(err, io.EOF) {
			text = errors.Unwrap(err).Error() // of input
		}
		r.fail(text)
		return
	}
	r.skipSpace(syntax.ByteOffset)
	e := &Error{Place: r.placeOf(syntax.ByteOffset), Path: pathOf(syntax.JSONPointer), Text: "not JSON: " + syntax.Err.Error()}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Path, e.Text = pathOf(syntax.JSONPointer.Parent()), ""
		e.Value, e.Want = "a second "+quoted(syntax.JSONPointer.LastToken()), "each key once"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Text = "the file ends too early: it is cut off, or empty"
	}
	r.err = e
}

// fail notes the first error, at the next token.
func (r *reader) fail(text string) {
	if r.err == nil {
		r.err = &Error{Place: r.placeOf(r.offset), Path: r.where(), Text: text}
	}
}

// where returns the path of the last value.
func (r *reader) where() string { return pathOf(r.tokens.StackPointer()) }

// pathOf returns a pointer as a path.
func pathOf(pointer jsontext.Pointer) string { return shortened(fieldpath.Of(pointer, nil)) }

// wrong fails because of a value that was read.
func (r *reader) wrong(value, want string) { r.wrongAt(r.from, r.where(), value, want) }

// wrongAt fails because of a value that was read a while ago.
func (r *reader) wrongAt(at Place, path, value, want string) {
	if r.err == nil {
		r.err = &Error{Place: at, Path: path, Value: value, Want: want}
	}
}

// result is the error with the name of the file, if there is one.
func (r *reader) result(file string) error {
	if r.err == nil {
		return nil
	}
	r.err.File = file
	return r.err
}

// finish refuses what follows the document.
func (r *reader) finish() {
	if r.err != nil {
		return
	}
	switch _, err := r.tokens.ReadToken(); {
	case err == nil:
		r.fail("something follows the end of the document")
	case !errors.Is(err, io.EOF):
		r.decodingError(err)
	}
}

// token reads the next token. Another kind than one of these is an error.
func (r *reader) token(want string, kinds ...jsontext.Kind) (jsontext.Token, bool) {
	kind := r.peek()
	if r.err != nil {
		return jsontext.Token{}, false
	}
	r.from, r.kind = r.placeOf(r.offset), 0
	t, err := r.tokens.ReadToken()
	if err != nil {
		r.decodingError(err)
		return t, false
	}
	if len(kinds) == 0 || slices.Contains(kinds, kind) {
		return t, true
	}
	r.wrong(shown(t), want)
	return t, false
}

// shown returns a value for messages.
func shown(t jsontext.Token) string {
	switch t.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return quoted(t.String())
	}
	return shortened(t.String())
}

// object reads an object; read is called at each value with its key and must read the value. The keys
// are returned, for need, and are valid until the next object of this depth.
func (r *reader) object(read func(key string)) []string {
	if _, ok := r.token("an object", '{'); !ok {
		return nil
	}
	depth := r.tokens.StackDepth()
	for len(r.keys) <= depth {
		r.keys = append(r.keys, nil)
	}
	keys := r.keys[depth][:0]
	for r.more('}') {
		name, ok := r.token("")
		if !ok {
			break
		}
		key := r.once(name.String())
		keys = append(keys, key)
		read(key)
	}
	r.keys[depth] = keys
	return keys
}

// more reports whether another element follows, or reads the end of the object or list.
func (r *reader) more(end jsontext.Kind) bool {
	if r.peek() != end {
		return r.err == nil
	}
	r.token("")
	return false
}

// once returns the same string for equal short texts: keys and states come again and again.
func (r *reader) once(text string) string {
	if known, ok := r.names[text]; ok {
		return known
	}
	if len(text) <= 32 && len(r.names) < 256 {
		r.names[text] = text
	}
	return text
}

// need fails unless an object had all these keys.
func (r *reader) need(at Place, keys []string, wanted ...string) {
	if r.err != nil {
		return
	}
	for _, key := range wanted {
		if !slices.Contains(keys, key) {
			r.err = &Error{Place: at, Path: r.where(), Text: quoted(key) + " is missing"}
			return
		}
	}
}

// unknown refuses the key that was read last.
func (r *reader) unknown(key, known string) {
	r.wrongAt(r.from, pathOf(r.tokens.StackPointer().Parent()), "the key "+quoted(key), "one of "+known)
}

// list reads a list; read is called at each element and must read it.
func (r *reader) list(read func(i int)) {
	if _, ok := r.token("a list", '['); !ok {
		return
	}
	for i := 0; r.more(']'); i++ {
		read(i)
	}
}

// integer reads a whole number between two bounds.
func (r *reader) integer(least, most int64, what string) int64 {
	want := func() string {
		if what != "" {
			return what
		}
		return fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	t, ok := r.token("")
	if !ok {
		return 0
	}
	if t.Kind() == '0' {
		if n, ok := whole(t.String()); ok && n >= least && n <= most {
			return n
		}
	}
	r.wrong(shown(t), want())
	return 0
}

// whole reads a number that is whole, in whatever way it is written: some
// languages write 8 as 8.0.
func whole(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < -(1<<53) || f > 1<<53 || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// string reads a string.
func (r *reader) string(want string) string {
	t, ok := r.token(want, '"')
	if !ok {
		return ""
	}
	return r.once(t.String())
}

// word reads one of some strings and returns its index.
func (r *reader) word(words ...string) int {
	t, ok := r.token("")
	if !ok {
		return 0
	}
	if i := slices.Index(words, t.String()); i >= 0 && t.Kind() == '"' {
		return i
	}
	r.wrong(shown(t), `"`+strings.Join(words, `", "`)+`"`)
	return 0
}

// boolean reads true or false.
func (r *reader) boolean() bool {
	t, ok := r.token("true or false", 't', 'f')
	return ok && t.Bool()
}

// skip reads a value of any kind.
func (r *reader) skip() {
	for depth := r.tokens.StackDepth(); ; {
		r.token("")
		if r.tokens.StackDepth() > maxDepth {
			r.fail(fmt.Sprintf("nested more than %d levels deep", maxDepth))
		}
		if r.err != nil || r.tokens.StackDepth() == depth {
			return
		}
	}
}
