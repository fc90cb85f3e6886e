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

// dieAt returns a hook for crash tests, or nil without VJOB_DIE_AT=n in the environment.
// The process kills itself with SIGKILL at the n-th crash point since its start, see
// [scheduler.LoopConfig]. Every point is logged with its number; 0 only counts.
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
			select {} // until the signal arrives
		}
	}, nil
}
