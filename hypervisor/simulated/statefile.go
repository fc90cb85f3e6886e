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

// stateFile is what the driver stores across restarts.
type stateFile struct {
	Saved   time.Time       `json:"saved"` // real time
	Virtual time.Time       `json:"virtual"`
	Cluster json.RawMessage `json:"cluster"`
}

// load builds the cluster, from the state file if it exists.
func (d *Driver) load(cfg Config) error {
	data, err := os.ReadFile(d.file)
	if d.file == "" || errors.Is(err, fs.ErrNotExist) {
		d.cluster, d.origin = New(cfg), cfg.Start
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %w", err)
	}
	var f stateFile
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("read the state of the simulated cluster: %s: %w", d.file, err)
	}
	if d.cluster, err = Restore(cfg, f.Cluster); err != nil {
		return fmt.Errorf("%s: %w", d.file, err)
	}
	away := max(0, d.real.Sub(f.Saved))
	d.origin = f.Virtual.Add(time.Duration(float64(away) * d.speed))
	return nil
}

// saveEvery bounds the age of the state file while no call is answered.
const saveEvery = time.Second

// saveIfNeeded writes the state file if a call is about to be answered or the file is old. It
// returns the time until it should be called again.
func (d *Driver) saveIfNeeded(notices []Notice) time.Duration {
	if d.file == "" {
		return maxSleep
	}
	d.stale = d.stale || len(notices) > 0
	answers := slices.ContainsFunc(notices, func(n Notice) bool { return n.Reply != nil })
	switch age := time.Since(d.saved); {
	case !d.stale:
		return maxSleep
	case !answers && age < saveEvery:
		return saveEvery - age
	}
	d.save()
	d.saved, d.stale = time.Now(), false
	return maxSleep
}

// save replaces the state file atomically and syncs it. An error is returned by Close; the
// cluster continues in memory.
func (d *Driver) save() {
	if d.file == "" {
		return
	}
	d.mu.Lock()
	f := stateFile{Saved: time.Now().Round(0), Virtual: d.virtual()}
	data, err := d.cluster.Snapshot()
	d.mu.Unlock()
	if err == nil {
		f.Cluster = data
		if data, err = json.Marshal(f); err == nil {
			err = replaceFile(d.file, data)
		}
	}
	if err != nil {
		d.mu.Lock()
		d.saveErr = fmt.Errorf("write the state of the simulated cluster: %w", err)
		d.mu.Unlock()
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
