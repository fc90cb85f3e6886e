package db

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// lock is the right to be the only daemon on a database. SQLite itself would let
// a second one in; two schedulers over one cluster must never be.
type lock struct{ file *os.File }

// acquire takes the lock beside the database, or says who holds it. The file
// stays behind when it is released: removing it would let two daemons hold locks
// on two files of one name.
func acquire(database string) (*lock, error) {
	path := database + ".lock"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := patiently(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another vjobd uses it (process %s): stop that one, or choose another database",
				strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // for people; the lock itself is the kernel's
	}
	return &lock{f}, nil
}

// patiently tries for two seconds: a daemon that was killed a moment ago may still
// be on its way out, and its successor should not fail because of it.
func patiently(try func() error) error {
	const pause = 100 * time.Millisecond
	for range 20 {
		if err := try(); !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		time.Sleep(pause)
	}
	return try()
}

// release gives the lock back.
func (l *lock) release() error { return l.file.Close() }
