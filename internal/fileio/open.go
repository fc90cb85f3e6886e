package fileio

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// BufferSize is the size of the buffers that [Open] returns, in bytes.
const BufferSize = 64 << 10

// Open returns the content of a file, decompressed if its first bytes are those of gzip.
func Open(in io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(in, BufferSize)
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) != "\x1f\x8b" {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("it begins as a file compressed by gzip: %w", err)
	}
	return bufio.NewReaderSize(z, BufferSize), nil
}
