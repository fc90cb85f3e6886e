// Package program is what the programs of a user share: when they are interrupted, how
// they wait, and which version they are.
//
// It refuses to know what they do.
package program

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// Context ends when somebody interrupts the program, ends it, or hangs up, unless nohup
// has seen to it that nobody hears of that.
func Context() (ctx context.Context, stop context.CancelFunc) {
	return Interrupted(context.Background())
}

// Interrupted is a context that ends as [Context] does, or with its parent. To listen for
// signals takes longer than many a short command: those that have nothing to clear up
// leave it, and are ended by the system.
func Interrupted(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(parent, signals...)
}

// Sleep waits, or returns false when the context ends first.
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

// Version is what the build recorded: a tag, or the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "development"
}
