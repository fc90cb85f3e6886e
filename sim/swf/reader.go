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
)

// longest is how many bytes a line has at most.
const longest = 64 << 10

// Reader reads a log line by line and keeps none.
type Reader struct {
	in   *bufio.Reader
	line int
	// processors and nodes are what the comments say so far; 0 is nothing.
	processors, nodes int64
	begin             int64 // of the log, in seconds of Unix time, likewise
}

// NewReader begins to read a log, plain or compressed.
func NewReader(in io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(in, longest)
	if magic, _ := b.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return &Reader{in: b}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, damaged(0, err)
	}
	return &Reader{in: bufio.NewReaderSize(z, longest)}, nil
}

// The words of a log on its machine.
const (
	maxProcs = "MaxProcs"
	maxNodes = "MaxNodes"
	unixTime = "UnixStartTime" // when it begins
)

// Processors is what the log says that its machine has, as far as it is read, and by
// which word: MaxProcs, or without that MaxNodes. It is 0 when the log says nothing.
func (r *Reader) Processors() (processors int64, word string) {
	switch {
	case r.processors > 0:
		return r.processors, maxProcs
	case r.nodes > 0:
		return r.nodes, maxNodes
	}
	return 0, ""
}

// mark is with what some editors begin a file (UTF-8's byte order mark).
var mark = []byte("\xef\xbb\xbf")

// errCutOff is the end of a last line that is not whole.
var errCutOff = errors.New("the last line is cut off")

// Next is the next job of the log; the error is [io.EOF] at its end. Others name the
// line.
func (r *Reader) Next() (Record, error) {
	for {
		text, err := r.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return Record{}, cluster.BadField(fmt.Sprintf("line %d", r.line+1), fmt.Sprintf("more than %d bytes", longest), "a line of a log")
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

// comment looks for what the machine has. The first that says so counts: a log
// that was made from another one may quote its comments.
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

// amount is the number with which a text begins, in which commas part thousands; 0
// without one.
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

// damaged is a compressed log that cannot be read to its end.
func damaged(line int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, new(flate.CorruptInputError)) {
		return cluster.BadField(fmt.Sprintf("after line %d", line), err.Error(), "a whole gzip file: this one is cut off or damaged")
	}
	return fmt.Errorf("read after line %d: %w", line, err)
}
