// Package console separates the output of the work of a guest from the other text on its console: messages of the
// boot before it, and of the shutdown after it.
package console

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"vjob/cluster"
)

// Output passes on the output of the work only: what stands between the line [cluster.OutputMark] and
// [cluster.ExitMark], for each guest that the VM had.
type Output struct {
	To io.Writer

	inside  bool
	pending []byte // the end of what was written: it may be the beginning of a mark
	found   bool
}

// Found reports whether a mark of output was written.
func (o *Output) Found() bool { return o.found }

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	text := append(o.pending, p...)
	for {
		var out []byte
		var more bool
		if o.inside {
			out, text, more = o.cutExit(text)
		} else {
			text, more = o.cutStart(text)
		}
		if len(out) > 0 {
			if _, err := o.To.Write(out); err != nil {
				return 0, err
			}
		}
		if !more {
			o.pending = slices.Clone(text)
			return len(p), nil
		}
	}
}

// Close passes on what was kept back. It does not close To.
func (o *Output) Close() error {
	text := o.pending
	o.pending = nil
	if !o.inside || len(text) == 0 {
		return nil
	}
	_, err := o.To.Write(text)
	return err
}

// cutStart drops the text up to the line with the mark of output.
func (o *Output) cutStart(text []byte) (rest []byte, more bool) {
	at := bytes.Index(text, []byte(cluster.OutputMark))
	if at < 0 {
		return text[max(0, len(text)-len(cluster.OutputMark)+1):], false
	}
	end := bytes.IndexByte(text[at:], '\n')
	if end < 0 {
		return text[at:], false
	}
	if len(bytes.TrimSpace(text[at+len(cluster.OutputMark):at+end])) > 0 { // a longer line
		return text[at+len(cluster.OutputMark):], true
	}
	o.inside, o.found = true, true
	return text[at+end+1:], true
}

// cutExit returns the text up to the mark of the exit status, and keeps what may be its beginning.
func (o *Output) cutExit(text []byte) (out, rest []byte, more bool) {
	mark := []byte(cluster.ExitMark)
	if before, after, found := bytes.Cut(text, mark); found {
		o.inside = false
		return before, after, true
	}
	keep := min(len(text), len(mark)-1)
	for keep > 0 && !bytes.HasPrefix(mark, text[len(text)-keep:]) {
		keep--
	}
	return text[:len(text)-keep], text[len(text)-keep:], false
}

// HasOutput reports whether a console has a mark of output. It reads to the mark or to the end.
func HasOutput(r io.Reader) (bool, error) {
	o := Output{To: io.Discard}
	piece := make([]byte, 32<<10)
	for {
		n, err := r.Read(piece)
		if _, err := o.Write(piece[:n]); err != nil {
			return false, err
		}
		switch {
		case o.found:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
	}
}
