package api

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
)

// Bounds of GET /v1/vjobs/{id}/logs?tail=.
const (
	maxTail     = 10_000
	maxTailLine = 64 << 10 // bytes of one line that are kept
	maxTailSize = 16 << 20 // bytes of all of them
)

// consoleTailBytes is how much of the end of a console is looked at.
const consoleTailBytes = 4 << 10

// lastBytes reads to the end and keeps the last n bytes. A file is not read before them.
func lastBytes(r io.Reader, n int64) ([]byte, error) {
	if file, ok := r.(io.Seeker); ok {
		if _, err := file.Seek(-n, io.SeekEnd); err != nil {
			_, err = file.Seek(0, io.SeekStart) // it is shorter than that
			if err != nil {
				return nil, err
			}
		}
	}
	var kept []byte
	piece := make([]byte, 32<<10)
	for {
		got, err := r.Read(piece)
		kept = append(kept, piece[:got]...)
		kept = kept[max(0, int64(len(kept))-n):]
		switch {
		case errors.Is(err, io.EOF):
			return kept, nil
		case err != nil:
			return nil, err
		}
	}
}

// copyLog streams text to the caller, the last tail lines only when that is not
// 0. Each piece has to be taken in the time for writing.
func (s *Server) copyLog(c *gin.Context, caller Subject, text io.Reader, tail int) error {
	c.Status(http.StatusOK)
	out := s.newStreamWriter(c, caller)
	if tail == 0 {
		_, err := io.Copy(out, text)
		return err
	}
	lines, err := lastLines(text, tail)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// lastLines reads to the end and keeps the last n lines with their ends, within
// the bounds. What is over in a long line is cut off.
func lastLines(r io.Reader, n int) ([][]byte, error) {
	reader := bufio.NewReaderSize(r, maxTailLine)
	var lines [][]byte
	size, continued := 0, false
	for {
		piece, err := reader.ReadSlice('\n')
		if len(piece) > 0 && !continued {
			lines = append(lines, slices.Clone(piece))
			size += len(piece)
		}
		for len(lines) > n || size > maxTailSize {
			size -= len(lines[0])
			lines = lines[1:]
		}
		continued = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil && !continued:
			return nil, err
		}
	}
}
