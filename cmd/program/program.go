// Package program has what the client programs share: interruption by signals, waiting, the version,
// and the terminal of the user on the serial console of a VM.
package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vjob/internal/version"
)

// Context ends on SIGINT, SIGTERM and SIGHUP, the last one unless the program ignores it
// under nohup.
func Context() (ctx context.Context, stop context.CancelFunc) {
	return Interrupted(context.Background())
}

// Interrupted returns a context that ends as [Context] does, or with its parent. Registering
// for signals takes longer than many short commands: commands without cleanup leave signals
// to the system.
func Interrupted(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(parent, signals...)
}

// Sleep waits. It returns false if the context ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Version returns the version of the program.
func Version() string { return version.Program() }
