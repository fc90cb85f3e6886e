package swf

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Looks reports whether a file that begins like this is a log, not a document of
// some kind: its first line is a comment or begins with a number.
func Looks(beginning []byte) bool {
	if z, err := gzip.NewReader(bytes.NewReader(beginning)); err == nil {
		// What there is of the data is enough, so an error at its end is none.
		beginning, _ = io.ReadAll(io.LimitReader(z, 4096))
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(beginning, mark), blanks+"\n")
	if len(text) == 0 {
		return false
	}
	if text[0] == '-' {
		text = text[1:]
	}
	return len(text) > 0 && (text[0] == ';' || '0' <= text[0] && text[0] <= '9')
}
