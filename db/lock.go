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

// lock makes a daemon the only one on a database. SQLite itself would admit a second one, and
// two schedulers must never share a cluster.
type lock struct{ file *os.File }

// acquire takes the lock beside the database; the error names the process that holds it. The
// file stays after the release: removing it would let two daemons hold locks on two files of
// one name.
func acquire(database string) (*lock, error) {
	path := database + ".lock"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := retryLock(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another vjobd uses it (process %s): stop that one, or choose another database",
				strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // for the error message; the kernel holds the lock itself
	}
	return &lock{f}, nil
}

// retryLock tries for two seconds: a daemon that was killed a moment ago may not have exited
// yet, and its successor should not fail because of it.
func retryLock(try func() error) error {
	const pause = 100 * time.Millisecond
	for range 20 {
		if err := try(); !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		time.Sleep(pause)
	}
	return try()
}

// release releases the lock.
func (l *lock) release() error { return l.file.Close() }
