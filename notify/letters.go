package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// letter is a message that was not delivered yet.
type letter struct {
	To      string    `json:"to"`
	Message Message   `json:"message"`
	OAR     bool      `json:"oar,omitempty"`
	Since   time.Time `json:"since"` // it is owed
	Tries   int       `json:"tries"`
	Next    time.Time `json:"next"` // no attempt before

	to     Address // To
	flying bool    // an attempt is under way
}

// ready reports whether an attempt may begin.
func (l *letter) ready(now time.Time) bool { return !l.flying && !l.Next.After(now) }

// message is the message with what its JSON leaves out.
func (l *letter) message() Message {
	m := l.Message
	m.OAR = l.OAR
	return m
}

// letters is the stored state: the cursor in the log, and the messages that wait.
type letters struct {
	Cursor  int64     `json:"cursor"` // the last event that was read
	Waiting []*letter `json:"waiting"`
}

// load reads the letters; known is false when there were none yet.
func load(file string) (l letters, known bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, false, nil
	}
	if err != nil {
		return l, false, fmt.Errorf("letters: %w", err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, false, fmt.Errorf("letters: %s: %w", file, err)
	}
	return l, true, nil
}

// save replaces the file as a whole; it is durable on return.
func (l *letters) save(file string) error {
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("letters: %w", err)
	}
	next := file + ".next"
	if err := write(next, data); err != nil {
		return fmt.Errorf("letters: %w", err)
	}
	if err := os.Rename(next, file); err != nil {
		return fmt.Errorf("letters: %w", err)
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("letters: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// write makes a file that only its owner can read: letters hold mail addresses.
func write(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
