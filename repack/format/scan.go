package format

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Limits of a file. The memory that reading takes is a small multiple of what is
// in the file, and these bound the file.
const (
	maxFile   = 1 << 30 // bytes, after decompression
	maxString = 1 << 16 // bytes of one string
	maxNumber = 1000    // letters of one number
	maxDepth  = 100     // levels of nesting, where anything goes
)

// scanner reads JSON piece by piece. The first error stays; from then on every
// method returns zero values, so that callers need look only when they loop.
type scanner struct {
	in      io.Reader
	buffer  []byte
	at, end int   // what of the buffer is not read yet
	before  int64 // bytes of the file ahead of the buffer
	line    int32
	bol     int64 // where the line begins
	ended   bool
	text    []byte            // the last string or number
	names   map[string]string // strings that come again and again: keys, states
	err     *Error
}

func newScanner(in io.Reader) *scanner {
	return &scanner{in: in, buffer: make([]byte, 1<<15), line: 1, names: map[string]string{}}
}

// fill reads on; false: there is nothing more.
func (s *scanner) fill() bool {
	if s.ended || s.err != nil {
		return false
	}
	s.before += int64(s.at)
	s.at, s.end = 0, 0
	if s.before > maxFile {
		s.fail(fmt.Sprintf("longer than %d MiB", maxFile>>20))
		return false
	}
	n, err := 0, error(nil)
	for n == 0 && err == nil {
		n, err = s.in.Read(s.buffer)
	}
	s.end = n
	s.ended = n == 0
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.fail("the file is cut off: the compressed data ends in the middle")
	case err != nil && !errors.Is(err, io.EOF):
		s.fail("cannot be read: " + err.Error())
	}
	return n > 0 && s.err == nil
}

func (s *scanner) place() Place {
	return Place{s.line, int32(min(s.before+int64(s.at)-s.bol+1, 1<<31-1))}
}

// fail notes the first error, at the present place.
func (s *scanner) fail(text string) {
	if s.err == nil {
		s.err = &Error{Place: s.place(), Text: text}
	}
}

// peek skips space and returns the next byte without taking it; 0 at the end of
// the file and after an error.
func (s *scanner) peek() byte {
	for s.err == nil {
		for s.at < s.end {
			switch c := s.buffer[s.at]; c {
			case ' ', '\t', '\r':
				s.at++
			case '\n':
				s.at++
				s.line++
				s.bol = s.before + int64(s.at)
			case 0:
				s.fail("not JSON: a zero byte")
				return 0
			default:
				return c
			}
		}
		if !s.fill() {
			return 0
		}
	}
	return 0
}

// raw takes one byte as it is; 0 at the end.
func (s *scanner) raw() byte {
	if s.at == s.end && !s.fill() {
		return 0
	}
	s.at++
	return s.buffer[s.at-1]
}

// unexpected fails because of the next byte.
func (s *scanner) unexpected(want string) {
	c := s.peek()
	switch {
	case s.err != nil:
	case s.ended:
		s.fail("the file ends where " + want + " should follow: it is cut off")
	default:
		s.fail(fmt.Sprintf("not JSON: %s where %s should stand", shownByte(c), want))
	}
}

func shownByte(c byte) string {
	if c < 0x20 || c >= 0x7f {
		return fmt.Sprintf("byte 0x%02x", c)
	}
	return fmt.Sprintf("%q", c)
}

// take takes the next byte, which must be c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		s.unexpected(fmt.Sprintf("%q", c))
		return false
	}
	s.at++
	return true
}

// name is the last string or number as a string, made only once for short ones.
func (s *scanner) name() string {
	if known, ok := s.names[string(s.text)]; ok {
		return known
	}
	text := string(s.text)
	if len(text) <= 32 && len(s.names) < 256 {
		s.names[text] = text
	}
	return text
}

// scanString reads a string into text.
func (s *scanner) scanString() bool {
	s.text = s.text[:0]
	if !s.take('"') {
		return false
	}
	for s.err == nil {
		from := s.at
		for s.at < s.end && s.buffer[s.at] != '"' && s.buffer[s.at] != '\\' && s.buffer[s.at] >= 0x20 {
			s.at++
		}
		s.text = append(s.text, s.buffer[from:s.at]...)
		if len(s.text) > maxString {
			s.fail(fmt.Sprintf("a string longer than %d bytes", maxString))
			return false
		}
		switch c := s.raw(); {
		case c == '"' && utf8.Valid(s.text):
			return true
		case c == '"':
			s.fail("a string that is not UTF-8")
		case c == '\\':
			s.escape()
		case s.ended && c == 0:
			s.unexpected("the end of a string")
		case c < 0x20:
			s.at--
			s.fail(fmt.Sprintf("not JSON: %s in a string", shownByte(c)))
		default: // the first byte of the next part of the file
			s.at--
		}
	}
	return false
}

// scanNumber reads a number into text.
func (s *scanner) scanNumber() bool {
	s.text = s.text[:0]
	place := s.place()
	for len(s.text) <= maxNumber && (s.at < s.end || s.fill()) && isNumeric(s.buffer[s.at]) {
		s.text = append(s.text, s.buffer[s.at])
		s.at++
	}
	if s.err == nil && !isNumber(s.text) {
		s.err = &Error{Place: place, Text: "not JSON: " + quoted(string(s.text)) + " is no number"}
	}
	return s.err == nil
}

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// isNumber reports whether text is a number by the grammar of JSON.
func isNumber(text []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		text = text[n:]
		return n > 0
	}
	if len(text) > maxNumber {
		return false
	}
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' || !digits() {
		return false
	}
	if len(text) > 0 && text[0] == '.' {
		text = text[1:]
		if !digits() {
			return false
		}
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
			text = text[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(text) == 0
}
