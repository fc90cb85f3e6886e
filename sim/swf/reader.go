package swf

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"

	"vjob/cluster"
	"vjob/internal/fileio"
)

// longest is the maximum length of a line in bytes.
const longest = fileio.BufferSize

// Reader reads a log line by line.
type Reader struct {
	in   *bufio.Reader
	line int
	// processors and nodes are the numbers in the comments so far; 0 if absent.
	processors, nodes int64
	begin             int64 // of the log, in seconds of Unix time; 0 if absent
}

// newReader returns a reader of a log, plain or compressed.
func newReader(in io.Reader) (*Reader, error) {
	b, err := fileio.Open(in)
	if err != nil {
		return nil, damaged(0, err)
	}
	return &Reader{in: b}, nil
}

// Keys of comments about the machine.
const (
	maxProcs = "MaxProcs"
	maxNodes = "MaxNodes"
	unixTime = "UnixStartTime" // when it begins
)

// declared returns the number of processors in the comments read so far, and its key:
// MaxProcs, else MaxNodes. The number is 0 if the log has neither.
func (r *Reader) declared() (processors int64, word string) {
	switch {
	case r.processors > 0:
		return r.processors, maxProcs
	case r.nodes > 0:
		return r.nodes, maxNodes
	}
	return 0, ""
}

// mark is the byte order mark of UTF-8, with which some editors begin a file.
var mark = []byte("\xef\xbb\xbf")

// errCutOff is the error of an incomplete last line.
var errCutOff = errors.New("the last line is cut off")

// Next returns the next job of the log, or [io.EOF] at its end. Other errors name the line.
func (r *Reader) Next() (Record, error) {
	for {
		text, err := r.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return Record{}, cluster.Fault(fmt.Sprintf("line %d", r.line+1), "longer than %d bytes", longest)
		case err != nil && !errors.Is(err, io.EOF):
			return Record{}, damaged(r.line, err)
		case len(text) == 0:
			return Record{}, io.EOF
		}
		if r.line++; r.line == 1 {
			text = bytes.TrimPrefix(text, mark)
		}
		text = bytes.Trim(text, blanks+"\n")
		if len(text) == 0 {
			continue
		}
		if text[0] == ';' {
			r.comment(text[1:])
			continue
		}
		record, bad := parse(r.line, text)
		if bad != nil && err != nil {
			return record, errCutOff
		}
		return record, bad
	}
}

// comment looks for the keys of the machine. The first comment with a key counts: a log
// that was derived from another one may quote its comments.
func (r *Reader) comment(text []byte) {
	word, value, _ := bytes.Cut(text, []byte(":"))
	switch string(bytes.Trim(word, blanks)) {
	case maxProcs:
		r.processors = cmp.Or(r.processors, amount(value))
	case maxNodes:
		r.nodes = cmp.Or(r.nodes, amount(value))
	case unixTime:
		r.begin = cmp.Or(r.begin, min(amount(value), math.MaxInt32))
	}
}

// amount returns the number at the beginning of a text, with commas between thousands, or 0.
func amount(text []byte) (n int64) {
	for _, c := range bytes.TrimLeft(text, blanks) {
		switch {
		case '0' <= c && c <= '9' && n < largest:
			n = min(10*n+int64(c-'0'), largest)
		case c != ',':
			return n
		}
	}
	return n
}

// damaged returns the error of a compressed log that cannot be read to its end.
func damaged(line int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, new(flate.CorruptInputError)) {
		return cluster.Fault(fmt.Sprintf("after line %d", line), "%v: the gzip file is cut off or damaged", err)
	}
	return fmt.Errorf("read after line %d: %w", line, err)
}
