package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/scheduler"
)

// Console opens what the guest of a VM has printed since its first boot. A VM
// that never printed is cluster.ErrNotFound.
type Console interface {
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
}

// consoleHandler answers requests for the consoles of VMs: for their output, and to attach to them.
type consoleHandler struct {
	console   Console  // nil: no logs
	attacher  Attacher // nil: no interactive consoles
	finder    vjobFinder
	streaming *streaming
	perWrite  time.Duration // until one message to an attached client is taken
	snapshot  func() *scheduler.Snapshot
	attached  *sync.WaitGroup // attached consoles
}

// Bounds of GET /v1/vjobs/{id}/logs?tail=.
const (
	maxTail     = 10_000
	maxTailLine = 64 << 10 // bytes of one line that are kept
	maxTailSize = 16 << 20 // bytes of all of them
)

// consoleTailBytes is how much of the end of a console is looked at.
const consoleTailBytes = 4 << 10

// logs answers GET /v1/vjobs/{id}/logs.
func (h *consoleHandler) logs(c *gin.Context, caller Subject) error {
	kept, err := h.finder.inPath(c, caller, Read)
	if err != nil {
		return err
	}
	q := queryReader{c: c}
	rank, tail := q.number("rank", 0, int64(max(len(kept.VMs)-1, 0)), 0), q.number("tail", 1, maxTail, 0)
	if q.err != nil {
		return q.err
	}
	vm := cluster.VMID{VJob: kept.ID, Rank: int(rank)}
	if h.console == nil {
		return notFound("console of VM", vm.String())
	}
	text, err := h.console.Console(c.Request.Context(), vm)
	if err != nil {
		return err
	}
	defer text.Close()
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("Content-Disposition", `inline; filename="vjob-`+strconv.FormatInt(int64(vm.VJob), 10)+`-`+strconv.Itoa(vm.Rank)+`.log"`)
	return h.copyLog(c, caller, text, int(tail))
}

// copyLog streams text to the caller, the last tail lines only when that is not
// 0. Each piece has to be taken in the time for writing.
func (h *consoleHandler) copyLog(c *gin.Context, caller Subject, text io.Reader, tail int) error {
	c.Status(http.StatusOK)
	out := h.streaming.writer(c, caller)
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

// tail returns the end of the console output of a VM; nil without output.
func (h *consoleHandler) tail(ctx context.Context, vm cluster.VMID) ([]byte, error) {
	if h.console == nil {
		return nil, nil
	}
	text, err := h.console.Console(ctx, vm)
	if errors.Is(err, cluster.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return lastBytes(text, consoleTailBytes)
}

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
