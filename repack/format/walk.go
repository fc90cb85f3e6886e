package format

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// reader walks through a document and knows where it is.
type reader struct {
	*scanner
	path []step
	keys [][]string // of the objects that it is in
	from Place      // where the last value began
}

// step is one step of a path: a key, or the index of an element.
type step struct {
	key   string
	index int
}

// open reads a file as it is, or what gzip made of it: its first bytes tell.
func open(in io.Reader) *reader {
	b := bufio.NewReaderSize(in, 1<<14)
	r := &reader{scanner: newScanner(b)}
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		r.fail("cannot be read: " + err.Error())
		return r
	}
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			r.fail("damaged: it begins as a file compressed by gzip, but " + strings.TrimPrefix(err.Error(), "gzip: "))
			return r
		}
		r.in = unpacked
	}
	return r
}

// where is the path of the present value.
func (r *reader) where() string {
	var b strings.Builder
	for i, s := range r.path {
		switch {
		case s.key == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i == 0:
			b.WriteString(s.key)
		default:
			b.WriteString("." + s.key)
		}
	}
	return shortened(b.String())
}

// wrong fails because of a value that was read.
func (r *reader) wrong(value, want string) { r.wrongAt(r.from, r.where(), value, want) }

// wrongAt fails because of a value that was read a while ago.
func (r *reader) wrongAt(at Place, path, value, want string) {
	if r.err == nil {
		r.err = &Error{Place: at, Path: path, Value: value, Want: want}
	}
}

// result is the error with the path, if there is one.
func (r *reader) result(file string) error {
	if r.err == nil {
		return nil
	}
	if r.err.Path == "" {
		r.err.Path = r.where()
	}
	r.err.File = file
	return r.err
}

// finish refuses what follows the document.
func (r *reader) finish() {
	if r.peek() != 0 {
		r.fail("something follows the end of the document")
	}
}

// shown tells what the next value is, for messages; it may take it.
func (r *reader) shown() string {
	switch c := r.peek(); {
	case c == '"' && r.scanString():
		return quoted(string(r.text))
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case (c == '-' || c >= '0' && c <= '9') && r.scanNumber():
		return shortened(string(r.text))
	case c == 't' || c == 'f' || c == 'n':
		return r.literal()
	}
	r.unexpected("a value")
	return ""
}

// begin looks whether the next value is of the wanted kind, and notes its place.
func (r *reader) begin(ok func(c byte) bool, want string) bool {
	c := r.peek()
	r.from = r.place()
	if c != 0 && ok(c) {
		return true
	}
	if r.err != nil {
		return false
	}
	text := r.shown()
	if r.err == nil {
		r.wrong(text, want)
	}
	return false
}

// object reads an object; read is called at each value with its key and must
// take the value. The keys are returned, for need.
func (r *reader) object(read func(key string)) []string {
	if !r.begin(func(c byte) bool { return c == '{' }, "an object") {
		return nil
	}
	r.at++
	depth := len(r.path)
	for len(r.keys) <= depth {
		r.keys = append(r.keys, nil)
	}
	keys := r.keys[depth][:0]
	for r.more('}', len(keys) == 0) {
		place := r.place()
		if !r.scanString() {
			break
		}
		key := r.name()
		if slices.Contains(keys, key) {
			r.wrongAt(place, r.where(), "a second "+quoted(key), "each key once")
			break
		}
		keys = append(keys, key)
		if !r.take(':') {
			break
		}
		r.path = append(r.path, step{key: key})
		r.from = place
		read(key)
		if r.err != nil {
			break // the path stays, for the message
		}
		r.path = r.path[:depth]
	}
	r.keys[depth] = keys
	return keys
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

// unknown refuses a key.
func (r *reader) unknown(key, known string) {
	r.path = r.path[:len(r.path)-1]
	r.wrongAt(r.from, r.where(), "the key "+quoted(key), "one of "+known)
}

// list reads a list; read is called at each element and must take it.
func (r *reader) list(read func(i int)) {
	if !r.begin(func(c byte) bool { return c == '[' }, "a list") {
		return
	}
	r.at++
	depth := len(r.path)
	for i := 0; r.more(']', i == 0); i++ {
		r.path = append(r.path, step{index: i})
		read(i)
		if r.err != nil {
			return
		}
		r.path = r.path[:depth]
	}
}

// more takes what stands between the elements; false: the end, or an error.
func (r *reader) more(end byte, first bool) bool {
	c := r.peek()
	switch {
	case r.err != nil:
		return false
	case c == end:
		r.at++
		return false
	case first:
		return true
	case c != ',':
		r.unexpected(fmt.Sprintf("',' or %q", end))
		return false
	}
	r.at++
	if r.peek() == end {
		r.unexpected("a value after ','")
		return false
	}
	return r.err == nil
}

func isDigit(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

// integer reads a whole number between two bounds.
func (r *reader) integer(least, most int64, what string) int64 {
	want := func() string {
		if what != "" {
			return what
		}
		return fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	c := r.peek()
	r.from = r.place()
	if !isDigit(c) {
		r.begin(isDigit, want())
		return 0
	}
	if !r.scanNumber() {
		return 0
	}
	n, ok := whole(r.text)
	if !ok || n < least || n > most {
		r.wrong(shortened(string(r.text)), want())
		return 0
	}
	return n
}

// whole reads a number that is whole, in whatever way it is written: some
// languages write 8 as 8.0.
func whole(text []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f < -(1<<53) || f > 1<<53 || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// string reads a string.
func (r *reader) string(want string) string {
	if !r.begin(func(c byte) bool { return c == '"' }, want) || !r.scanString() {
		return ""
	}
	return r.name()
}

// word reads one of some strings and returns its index.
func (r *reader) word(words ...string) int {
	list := func() string { return `"` + strings.Join(words, `", "`) + `"` }
	if c := r.peek(); c != '"' {
		r.begin(func(byte) bool { return false }, list())
		return 0
	}
	r.from = r.place()
	if !r.scanString() {
		return 0
	}
	i := slices.Index(words, string(r.text))
	if i < 0 {
		r.wrong(quoted(string(r.text)), list())
		return 0
	}
	return i
}

// boolean reads true or false.
func (r *reader) boolean() bool {
	if !r.begin(func(c byte) bool { return c == 't' || c == 'f' }, "true or false") {
		return false
	}
	return r.literal() == "true"
}

// literal reads true, false or null.
func (r *reader) literal() string {
	for _, word := range []string{"true", "false", "null"} {
		if r.peek() != word[0] {
			continue
		}
		place := r.place()
		for i := range len(word) {
			if r.raw() == word[i] {
				continue
			}
			if r.err == nil && r.ended {
				r.unexpected("the end of " + word)
			} else if r.err == nil {
				r.err = &Error{Place: place, Text: "not JSON: a word that is neither true nor false nor null"}
			}
			return ""
		}
		return word
	}
	return ""
}

// skip takes a value of any kind.
func (r *reader) skip(depth int) {
	if depth > maxDepth {
		r.fail(fmt.Sprintf("nested more than %d levels deep", maxDepth))
		return
	}
	switch r.peek() {
	case '{':
		r.at++
		for first := true; r.more('}', first); first = false {
			if !r.scanString() || !r.take(':') {
				return
			}
			r.skip(depth + 1)
		}
	case '[':
		r.at++
		for first := true; r.more(']', first); first = false {
			r.skip(depth + 1)
		}
	default:
		_ = r.shown()
	}
}
