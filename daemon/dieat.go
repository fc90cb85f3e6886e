package daemon

import (
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"vjob/cluster"
)

// dieAtVariable is the environment variable of [dieAt].
const dieAtVariable = "VJOB_DIE_AT"

// dieAt is a hook for tests and nothing else. With VJOB_DIE_AT=n in the
// environment the process kills itself, as kill -9 does, at the n-th point since
// its start at which a crash leaves something half done: see
// [scheduler.LoopConfig]. Every point is logged with its number; 0 only counts.
// Without the variable there is no hook, which is nil.
func dieAt(log *slog.Logger) (func(point string), error) {
	text := os.Getenv(dieAtVariable)
	if text == "" {
		return nil, nil
	}
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil || last < 0 {
		return nil, cluster.BadField(dieAtVariable, text, "the number of a point, or nothing")
	}
	var count atomic.Int64
	return func(point string) {
		n := count.Add(1)
		log.Info("crash point", slog.Int64("number", n), slog.String("point", point))
		if n == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is under way
		}
	}, nil
}
