package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/internal/console"
	"vjob/scheduler"
)

// Console opens what the guest of a VM has printed since its first boot. A VM
// that never printed is cluster.ErrNotFound.
type Console interface {
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
	// Errors opens what its work has written to standard error, if that is kept apart.
	Errors(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
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

// logs answers GET /v1/vjobs/{id}/logs.
func (h *consoleHandler) logs(c *gin.Context, caller Subject) error {
	kept, err := h.finder.inPath(c, caller, Read)
	if err != nil {
		return err
	}
	q := queryReader{c: c}
	rank, tail := q.number("rank", 0, int64(max(len(kept.VMs)-1, 0)), 0), q.number("tail", 1, maxTail, 0)
	from, part := q.number("from", 0, math.MaxInt64, 0), q.choice("part", partConsole, partOutput, partErrors)
	output := part == partOutput
	if q.err == nil && from > 0 && (tail > 0 || output) {
		q.err = cluster.Fault("from", "excludes tail and part=output: it counts bytes of the whole console")
	}
	if q.err != nil {
		return q.err
	}
	vm := cluster.VMID{VJob: kept.ID, Rank: int(rank)}
	if h.console == nil {
		return notFound("console of VM", vm.String())
	}
	if output {
		if output, err = h.hasOutput(c.Request.Context(), vm); err != nil {
			return err
		}
	}
	open := h.console.Console
	if part == partErrors {
		open = h.console.Errors
	}
	text, err := open(c.Request.Context(), vm)
	if err != nil {
		return err
	}
	defer text.Close()
	if err := skip(text, from); err != nil {
		return err
	}
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("Content-Disposition", `inline; filename="vjob-`+strconv.FormatInt(int64(vm.VJob), 10)+`-`+strconv.Itoa(vm.Rank)+`.log"`)
	if output {
		in := outputOf(text)
		defer in.Close()
		return h.copyLog(c, caller, in, int(tail))
	}
	return h.copyLog(c, caller, text, int(tail))
}

// The parts of a console.
const (
	partConsole = "console" // all
	partOutput  = "output"  // what the command or script printed
	partErrors  = "errors"  // what it wrote to standard error, if that is kept apart
)

// hasOutput reports whether the output of the work stands between marks on the console of a VM.
func (h *consoleHandler) hasOutput(ctx context.Context, vm cluster.VMID) (bool, error) {
	text, err := h.console.Console(ctx, vm)
	if err != nil {
		return false, err
	}
	defer text.Close()
	return console.HasOutput(text)
}

// outputOf reads the output of the work from a console. The reader has to be closed.
func outputOf(text io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		filter := console.Output{To: in}
		_, err := io.Copy(&filter, text)
		in.CloseWithError(cmp.Or(err, filter.Close())) // always nil
	}()
	return out
}

// skip passes over the first n bytes of a console.
func skip(text io.Reader, n int64) (err error) {
	if file, ok := text.(io.Seeker); ok {
		_, err = file.Seek(n, io.SeekStart)
	} else if _, err = io.CopyN(io.Discard, text, n); errors.Is(err, io.EOF) {
		return nil
	}
	return err
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
