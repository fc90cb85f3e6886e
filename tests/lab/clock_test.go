//go:build libvirt_dlopen

package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"vjob/tests/lab"
)

// Stepping the wall clock of a process does not change its monotonic clock.
func TestClock(t *testing.T) {
	if file := os.Getenv("VJOB_CLOCK_FILE"); file != "" {
		tellTime(t, file)
		return
	}
	file := filepath.Join(t.TempDir(), "time")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClock$")
	cmd.Env = append(os.Environ(), "VJOB_CLOCK_FILE="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()                          //nolint:errcheck // it is killed
	defer cmd.Process.Signal(syscall.SIGKILL) //nolint:errcheck // it may have ended
	next := func(want time.Duration) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			text, _ := os.ReadFile(file) // it may not be there yet
			if string(text) == want.String()+" 0s" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("its clock is off by %q, want %s", text, want)
			}
		}
	}
	next(0)
	clock, err := lab.OwnClock(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []time.Duration{0, time.Hour, -24 * time.Hour, 0} {
		if err := clock.Step(step); err != nil {
			t.Fatal(err)
		}
		next(step)
	}
}

// tellTime writes how far the wall clock is from that of the file system, in minutes, and
// how long it has run by the monotonic clock, in hours, until it is killed.
func tellTime(t *testing.T, file string) {
	t.Helper()
	begun := time.Now()
	for {
		draft := file + ".new"
		if err := os.WriteFile(draft, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(draft)
		if err != nil {
			t.Fatal(err)
		}
		off := time.Now().Round(0).Sub(info.ModTime()).Round(time.Minute)
		if err := os.WriteFile(draft, fmt.Append(nil, off, time.Since(begun).Round(time.Hour)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(draft, file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
