package display

import (
	"bytes"
	"io"
)

// LineWriter passes text on in whole lines, each after a prefix.
type LineWriter struct {
	To     io.Writer
	Prefix string
	held   []byte // the beginning of a line
}

// Write holds the last line back until it ends.
func (w *LineWriter) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	for {
		end := bytes.IndexByte(w.held, '\n')
		if end < 0 {
			return len(p), nil
		}
		if err := w.line(w.held[:end+1]); err != nil {
			return 0, err
		}
		w.held = w.held[end+1:]
	}
}

// Flush ends the last line.
func (w *LineWriter) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	line := append(w.held, '\n')
	w.held = nil
	return w.line(line)
}

func (w *LineWriter) line(text []byte) error {
	_, err := w.To.Write(append([]byte(w.Prefix), text...))
	return err
}

// TailWriter keeps the last lines of a text.
type TailWriter struct {
	Lines int
	kept  []byte
	ends  int // of lines in kept
}

// Write drops the lines before the last ones.
func (w *TailWriter) Write(p []byte) (int, error) {
	w.kept = append(w.kept, p...)
	w.ends += bytes.Count(p, []byte{'\n'})
	lines := w.ends
	if len(w.kept) > 0 && w.kept[len(w.kept)-1] != '\n' {
		lines++
	}
	for ; lines > w.Lines; lines-- {
		w.kept = w.kept[bytes.IndexByte(w.kept, '\n')+1:]
		w.ends--
	}
	return len(p), nil
}

// Bytes are the lines that were kept.
func (w *TailWriter) Bytes() []byte { return w.kept }
