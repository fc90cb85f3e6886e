package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vjob/cluster"
	"vjob/internal/document"
)

// Stdin is the name of a file that stands for the standard input.
const Stdin = "-"

// ReadFrom opens the file of a flag and has it read.
func (a *App) ReadFrom(flag, path string, read func(in io.Reader, name string) error) error {
	switch path {
	case "":
		return cluster.BadField(flag, path, `a file, or "-" for the standard input`)
	case Stdin:
		return read(a.In, "standard input")
	}
	in, err := os.Open(path)
	if err != nil {
		return cluster.BadField(flag, path, "a file that can be read: "+reason(err))
	}
	defer func() { _ = in.Close() }() // it was only read
	return read(in, path)
}

// reason returns an error of the file system without the path, which the message already has.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// Target is an output file that a command writes at its end. Until then the old file stays.
type Target struct {
	flag   string
	path   string // of the file itself, links followed
	direct bool   // a device or a pipe: nothing can be put in its place
}

// Writable checks that a file can be written, so that the command fails before a long
// search. The others must be different files.
func Writable(flag, path string, others ...string) (*Target, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // the flag was not given
	}
	t := &Target{flag: flag, path: path}
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		t.path = followed
	}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, t.bad(err)
	case info.IsDir():
		return nil, cluster.Fault(flag, "%q is a directory, want a file", path)
	case !info.Mode().IsRegular():
		t.direct = true
		return t, nil
	}
	for _, other := range others {
		if have, err := os.Stat(other); err == nil && info != nil && os.SameFile(info, have) || other != "" && filepath.Clean(other) == filepath.Clean(path) {
			return nil, cluster.Fault(flag, "%q is the same file as %s", path, other)
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(t.path), ".vjob-*")
	if err != nil {
		return nil, t.bad(err)
	}
	return t, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func (t *Target) bad(err error) error {
	return cluster.BadField(t.flag, t.path, "a file that can be written: "+reason(err))
}

// Write replaces the file atomically.
func (t *Target) Write(fill func(w io.Writer) error) (err error) {
	if t == nil {
		return nil
	}
	if t.direct {
		out, err := os.OpenFile(t.path, os.O_WRONLY, 0)
		if err != nil {
			return t.bad(err)
		}
		return t.told(errors.Join(fill(out), out.Close()))
	}
	part := filepath.Join(filepath.Dir(t.path), fmt.Sprintf(".%s.%s.part", filepath.Base(t.path), rand.Text()))
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return t.bad(err)
	}
	err = fill(out)
	if info, old := os.Stat(t.path); old == nil && err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(part, t.path)
	}
	if err != nil {
		return t.told(errors.Join(err, os.Remove(part)))
	}
	return nil
}

func (t *Target) told(err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", t.path, err)
	}
	return nil
}

// ReadInput reads a file, or the standard input for "-".
func (a *App) ReadInput(path string) ([]byte, error) {
	if path == "-" {
		return document.ReadFrom("standard input", a.In)
	}
	return document.Read(path)
}
