package simulated

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stateFile is the file that stores the cluster across restarts. The engine's goroutine owns it.
type stateFile struct {
	name    string    // "" is no file
	written time.Time // the last time
	stale   bool      // something has happened since
	err     error     // the file cannot be written
}

// savedState is the content of the file.
type savedState struct {
	Saved   time.Time       `json:"saved"` // real time
	Virtual time.Time       `json:"virtual"`
	Cluster json.RawMessage `json:"cluster"`
}

// load builds the cluster, from the state file if it exists.
func (d *Driver) load(cfg Config) error {
	data, err := os.ReadFile(d.state.name)
	if d.state.name == "" || errors.Is(err, fs.ErrNotExist) {
		d.cluster, d.clock().origin = New(cfg), cfg.Start
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %w", err)
	}
	var f savedState
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %s: %w", d.state.name, err)
	}
	if d.cluster, err = Restore(cfg, f.Cluster); err != nil {
		return fmt.Errorf("%s: %w", d.state.name, err)
	}
	away := max(0, d.clock().real.Sub(f.Saved))
	d.clock().origin = f.Virtual.Add(time.Duration(float64(away) * d.clock().speed))
	return nil
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

// save replaces the state file atomically and syncs it. Close returns an error; until then the
// cluster continues in memory.
func (d *Driver) save() {
	if d.state.name == "" {
		return
	}
	d.mu.Lock()
	f := savedState{Saved: time.Now().Round(0), Virtual: d.clock().now()}
	data, err := d.cluster.Snapshot()
	d.mu.Unlock()
	if err == nil {
		f.Cluster = data
		if data, err = json.Marshal(f); err == nil {
			err = replaceFile(d.state.name, data)
		}
	}
	if err != nil {
		d.state.err = fmt.Errorf("write the state of the simulated cluster: %w", err)
	}
}

// replaceFile replaces a file atomically; after an error the old file stays.
func replaceFile(name string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that matters is the first one
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	closing := f.Close()
	if err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}
