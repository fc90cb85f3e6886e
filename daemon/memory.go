package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much garbage, in percent of what is alive, may gather before it is collected. A start makes what stays alive, so
// that to collect often finds little.
const garbageAtStart = 200

// garbageFor is the same later, given the bytes that are alive: as much garbage as that, within bounds. The daemon of a small cluster is a
// small program, and saves the time. A pass over a long queue leaves much, and memory is what the daemon shares with the
// cluster's services.
func garbageFor(alive uint64) (percent int) {
	const least, most, leastPercent = 16 << 20, 80 << 20, 50
	alive = max(alive, 1<<20)
	return max(int(100*min(max(alive, least), most)/alive), leastPercent)
}

// limitGarbage makes a start fast, and returns what is called once it is over: it gives back the memory that only the
// start needed. With GOGC in the environment the limit is that.
func limitGarbage() (started func()) {
	if os.Getenv("GOGC") != "" {
		return debug.FreeOSMemory
	}
	debug.SetGCPercent(garbageAtStart)
	return func() {
		debug.FreeOSMemory()
		adjustGarbage(readMemory())
	}
}

// adjustGarbage limits garbage by what is alive. Small changes are not worth it: the limit is set while all else stops.
func adjustGarbage(m memory) {
	if want := garbageFor(m.alive); os.Getenv("GOGC") == "" && max(want-m.percent, m.percent-want) > 10 {
		debug.SetGCPercent(want)
	}
}

// memory is how the heap stands.
type memory struct {
	allocated uint64 // bytes since the start
	alive     uint64 // bytes, as of the last collection
	percent   int    // garbage that may gather
}

func readMemory() memory {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return memory{sample[0].Value.Uint64(), sample[1].Value.Uint64(), int(sample[2].Value.Uint64())}
}

// restful tells when to give memory back: once after a burst of work, and at most once a minute. Without that a daemon keeps what a burst needed
// for as long as nothing happens. To give it back costs one collection.
type restful struct {
	allocated uint64 // bytes since the start, as of the last look
	returned  uint64 // the same, when memory was last given back
	pause     int    // looks until it may be given back again: what is touched again at once is dear
}

const (
	restEvery = 2 * time.Second
	restPause = 30 // looks
	// A burst has allocated half as much as is alive. It is over when a look finds a twentieth.
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

// giveBackMemory gives memory back after each burst of work, and adjusts the limit of garbage, until the context ends.
func giveBackMemory(ctx context.Context) {
	var r restful
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m := readMemory()
		adjustGarbage(m)
		if r.due(m.allocated, m.alive) {
			debug.FreeOSMemory()
		}
	}
}
