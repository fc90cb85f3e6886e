package simulated

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vjob/internal/fileio"
)

// stateFile is the file that stores the cluster across restarts: a line of JSON with the whole
// state, and one for the changes of each save after it. A line that a crash has cut off counts as
// never written: no call that depends on it was answered. The engine's goroutine owns it.
type stateFile struct {
	name    string    // "" is no file
	written time.Time // the last time
	stale   bool      // something has happened since
	err     error     // the file could not be written

	file     *os.File // nil until the whole state is written, and after an error
	whole    int64    // bytes of the first line
	appended int64    // bytes of the others
}

// savedState is one line of the file.
type savedState struct {
	Saved   time.Time `json:"saved"` // real time
	Virtual time.Time `json:"virtual"`
	Cluster *snapshot `json:"cluster"`
}

// load builds the cluster, from the state file if it exists.
func (d *Driver) load(cfg Config) error {
	file, err := os.Open(d.state.name)
	if d.state.name == "" || errors.Is(err, fs.ErrNotExist) {
		d.cluster, d.clock().origin = New(cfg), cfg.Start
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	r, err := newRestoration(cfg)
	if err != nil {
		return err
	}
	last, err := readStates(file, r)
	if err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %s: %w", d.state.name, err)
	}
	if d.cluster, err = r.finish(); err != nil {
		return fmt.Errorf("%s: %w", d.state.name, err)
	}
	away := max(0, d.clock().real.Sub(last.Saved))
	d.clock().origin = last.Virtual.Add(time.Duration(float64(away) * d.clock().speed))
	return nil
}

// readStates applies the lines of a state file and returns the last one. The first line is always
// whole, since it got its name after it was synced; earlier versions wrote only that one, without a
// line end.
func readStates(file io.Reader, r *restoration) (last savedState, err error) {
	lines := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return savedState{}, err
		}
		if err != nil && n > 1 {
			return last, nil // the end, or a line that was cut off
		}
		var next savedState
		if err := json.Unmarshal(line, &next); err != nil {
			if _, more := lines.Peek(1); n > 1 && errors.Is(more, io.EOF) {
				return last, nil // parts of the last line did not reach the disk
			}
			return savedState{}, fmt.Errorf("line %d: %w", n, err)
		}
		if next.Cluster == nil {
			return savedState{}, fmt.Errorf("line %d: cluster: missing", n)
		}
		if err := r.apply(next.Cluster); err != nil {
			return savedState{}, fmt.Errorf("line %d: %w", n, err)
		}
		last = savedState{Saved: next.Saved, Virtual: next.Virtual}
	}
}

// saveEvery bounds the age of the state file while no call is answered.
const saveEvery = time.Second

// saveIfDue writes the state file if a call is about to be answered or the file is old. It
// returns the time until it should be called again.
func (d *Driver) saveIfDue(notices []Notice) time.Duration {
	s := &d.state
	s.stale = s.stale || len(notices) > 0
	answers := slices.ContainsFunc(notices, func(n Notice) bool { return n.Reply != nil })
	switch age := time.Since(s.written); {
	case s.name == "" || !s.stale:
		return maxSleep
	case !answers && age < saveEvery:
		return saveEvery - age
	}
	d.save()
	s.written, s.stale = time.Now(), false
	return maxSleep
}

// save adds what has changed to the state file. Close returns an error; until then the cluster
// continues in memory.
func (d *Driver) save() {
	s := &d.state
	if s.name == "" {
		return
	}
	d.mu.Lock()
	if s.file == nil || s.overgrown() {
		d.cluster.touchAll()
	}
	whole := !d.cluster.touched.records()
	line, err := d.line()
	d.mu.Unlock()
	switch {
	case err != nil:
	case whole:
		err = s.replace(line)
	default:
		err = s.add(line)
	}
	if err != nil {
		s.err = fmt.Errorf("write the state of the simulated cluster: %w", err)
		s.close() // the next save writes the whole state
	}
}

// line returns the next line of the state file; mu is held.
func (d *Driver) line() ([]byte, error) {
	changes, err := d.cluster.changes()
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(savedState{Saved: time.Now().Round(0), Virtual: d.clock().now(), Cluster: changes})
	return append(line, '\n'), err
}

// minOvergrown is how many bytes of changes a small state file has at least before they are folded.
const minOvergrown = 1 << 18

// overgrown reports whether the changes take more than the whole state: writing it now at most
// doubles the cost of the saves since.
func (s *stateFile) overgrown() bool { return s.appended > max(s.whole, minOvergrown) }

// add appends a line.
func (s *stateFile) add(line []byte) error {
	s.appended += int64(len(line))
	if _, err := s.file.Write(line); err != nil {
		return err
	}
	return s.file.Sync()
}

// replace replaces the file by its new first line, atomically; after an error the old file stays.
func (s *stateFile) replace(line []byte) (err error) {
	s.close()
	f, err := os.OpenFile(s.name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) // the error that matters is the first one
		}
	}()
	if _, err = f.Write(line); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), s.name)
	}
	if err == nil {
		err = fileio.SyncDir(filepath.Dir(s.name)) // or the lines to come would be lost with the name
	}
	if err == nil {
		s.file, s.whole, s.appended = f, int64(len(line)), 0
	}
	return err
}

// close closes the file, all of which is synced.
func (s *stateFile) close() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
}
