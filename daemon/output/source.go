package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"vjob/cluster"
	"vjob/internal/console"
)

// Consoles opens what the guests of a VM have printed. It only grows; cluster.ErrNotFound: nothing yet.
type Consoles interface {
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
	Errors(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
}

// Bounds of what is read at once, and of a line in a file of several VMs, in bytes.
const (
	pieceSize = 64 << 10
	maxLine   = 32 << 10
)

// source is the text that one VM contributes to a file. It depends on what was printed only, so it begins the same
// whenever it is read again.
type source struct {
	vm     cluster.VMID
	errors bool // of the standard error, which was kept apart
	marked bool // the output stands between marks

	read    int64 // bytes of the console
	filter  *console.Output
	pending bytes.Buffer // text that no file has yet
	next    []byte       // a line that was read and not used
}

// reset begins again.
func (s *source) reset() {
	s.read, s.filter, s.next = 0, nil, nil
	s.pending.Reset()
}

// fill reads the next piece of the console. more is false at its end; after the last piece of a VM that has ended,
// the beginning of a mark counts as text.
func (s *source) fill(ctx context.Context, c Consoles, ended bool) (more bool, err error) {
	open := c.Console
	if s.errors {
		open = c.Errors
	}
	in, err := open(ctx, s.vm)
	if errors.Is(err, cluster.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("console of VM %s: %w", s.vm, err)
	}
	piece, err := pieceOf(in, s.read)
	if err := errors.Join(err, in.Close()); err != nil {
		return false, fmt.Errorf("console of VM %s: %w", s.vm, err)
	}
	s.read += int64(len(piece))
	if s.filter == nil {
		s.filter = &console.Output{To: &unixLines{to: &s.pending}}
	}
	text := s.filter.To
	if s.marked {
		text = s.filter
	}
	_, err = text.Write(piece)
	if len(piece) == 0 && ended {
		err = errors.Join(err, s.filter.Close())
	}
	return len(piece) > 0, err
}

// pieceOf reads a piece of a console from an offset on.
func pieceOf(in io.Reader, from int64) ([]byte, error) {
	if file, ok := in.(io.Seeker); ok {
		if _, err := file.Seek(from, io.SeekStart); err != nil {
			return nil, err
		}
	} else if _, err := io.CopyN(io.Discard, in, from); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(in, pieceSize))
}

// line returns the next whole line with its end, or nil. A line that is too long is broken. The last line of a VM that
// has ended gets an end.
func (s *source) line(ctx context.Context, c Consoles, ended bool) ([]byte, error) {
	if line := s.next; line != nil {
		s.next = nil
		return line, nil
	}
	for {
		text := s.pending.Bytes()
		switch end := bytes.IndexByte(text[:min(len(text), maxLine)], '\n'); {
		case end >= 0:
			return bytes.Clone(s.pending.Next(end + 1)), nil
		case len(text) >= maxLine:
			return append(bytes.Clone(s.pending.Next(maxLine)), '\n'), nil
		}
		more, err := s.fill(ctx, c, ended)
		switch {
		case err != nil:
			return nil, err
		case more || s.pending.Len() > len(text):
		case ended && s.pending.Len() > 0:
			return append(bytes.Clone(s.pending.Next(s.pending.Len())), '\n'), nil
		default:
			return nil, nil
		}
	}
}

// unixLines ends lines as files have it: consoles have a carriage return before each newline.
type unixLines struct {
	to   *bytes.Buffer
	held bool // a carriage return
}

func (u *unixLines) Write(p []byte) (int, error) {
	for _, c := range p {
		if u.held && c != '\n' {
			u.to.WriteByte('\r')
		}
		if u.held = c == '\r'; !u.held {
			u.to.WriteByte(c)
		}
	}
	return len(p), nil
}
