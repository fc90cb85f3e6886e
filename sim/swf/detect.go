package swf

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Looks reports whether a file with this beginning is a log and not a document:
// its first line is a comment or begins with a number.
func Looks(beginning []byte) bool {
	if z, err := gzip.NewReader(bytes.NewReader(beginning)); err == nil {
		// The beginning is enough, so errors at its end do not matter.
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
