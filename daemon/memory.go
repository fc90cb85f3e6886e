package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much garbage, in percent of what is alive, may gather before it is collected. A start makes what stays alive, so
// that to collect often finds little. Later a pass over a long queue leaves much, and memory is what the daemon shares
// with the cluster's services. Where little is alive, half of it is a few submissions: least may gather then, as far as that is
// not more than at a start.
const (
	garbageAtStart = 200
	garbage        = 50
	least          = 16 << 20 // bytes
)

// garbageBeside returns how much garbage may gather beside so many bytes that are alive, in percent of them.
func garbageBeside(alive uint64) int {
	return max(garbage, int(min(garbageAtStart, 100*least/max(1, alive))))
}

// limitGarbage limits garbage, in percent of what is alive. With GOGC in the environment the limit is that.
func limitGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// restful tells when to give memory back: once after a burst of work, and at most once a minute. Without that a daemon keeps what a burst needed
// for as long as nothing happens. To give it back costs one collection, which the next burst would have made anyway.
type restful struct {
	allocated uint64 // bytes since the start, as of the last look
	returned  uint64 // the same, when memory was last given back
	pause     int    // looks until it may be given back again: what is touched again at once is dear
}

const (
	restEvery = 2 * time.Second
	restPause = 30 // looks
	// A burst has allocated half as much as is alive, after which garbage is collected anyway. It is over when a look
	// finds a twentieth.
	burst, quiet = 2, 20
)

// due reports whether to give memory back, given the bytes that were allocated since the start and those that are alive.
func (r *restful) due(allocated, alive uint64) bool {
	over := allocated-r.allocated <= alive/quiet
	r.allocated, r.pause = allocated, max(0, r.pause-1)
	if !over || r.pause > 0 || allocated-r.returned <= alive/burst {
		return false
	}
	r.returned, r.pause = allocated, restPause
	return true
}

// tendMemory gives back the memory that only the start needed, which is over. Then it limits garbage by what is alive,
// and gives memory back after each burst of work, until the context ends.
func tendMemory(ctx context.Context) {
	debug.FreeOSMemory()
	var r restful
	limit := garbageAtStart
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		allocated, alive := sample[0].Value.Uint64(), sample[1].Value.Uint64()
		if want := garbageBeside(alive); want != limit {
			limit = want
			limitGarbage(limit)
		}
		if r.due(allocated, alive) {
			debug.FreeOSMemory()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
