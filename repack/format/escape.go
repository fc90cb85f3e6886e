package format

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads what follows a backslash in a string.
func (s *scanner) escape() {
	c := s.raw()
	switch c {
	case '"', '\\', '/':
		s.text = append(s.text, c)
	case 'b':
		s.text = append(s.text, '\b')
	case 'f':
		s.text = append(s.text, '\f')
	case 'n':
		s.text = append(s.text, '\n')
	case 'r':
		s.text = append(s.text, '\r')
	case 't':
		s.text = append(s.text, '\t')
	case 'u':
		s.text = utf8.AppendRune(s.text, s.unicode())
	default:
		if s.ended {
			s.unexpected("the end of a string")
			return
		}
		s.at--
		s.fail("not JSON: no such escape in a string: \\ and " + shownByte(c))
	}
}

// unicode reads the digits of one letter, or of the pair that stands for one.
func (s *scanner) unicode() rune {
	r := s.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if s.raw() == '\\' && s.raw() == 'u' {
		if pair := utf16.DecodeRune(r, s.hex()); pair != utf8.RuneError {
			return pair
		}
	}
	s.fail("half a letter in a string: \\u" + strconv.FormatInt(int64(r), 16) + " without its other half")
	return utf8.RuneError
}

// hex reads four digits.
func (s *scanner) hex() (r rune) {
	for range 4 {
		c := s.raw()
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		case s.ended:
			s.unexpected("the end of a string")
			return utf8.RuneError
		default:
			s.at--
			s.fail("not JSON: want four hexadecimal digits after \\u, not " + shownByte(c))
			return utf8.RuneError
		}
	}
	return r
}
