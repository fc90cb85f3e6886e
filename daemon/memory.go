package daemon

import (
	"os"
	"runtime/debug"
)

// How much garbage, in percent of what is alive, may gather before it is collected. A start makes what stays alive, so
// that to collect often finds little. Later a pass over a long queue leaves much, and memory is what the daemon shares
// with the cluster's services.
const (
	garbageAtStart = 200
	garbage        = 50
)

// limitGarbage makes a start fast, and returns what is called once it is over: it gives back the memory that only the
// start needed. With GOGC in the environment the limit is that.
func limitGarbage() (started func()) {
	if os.Getenv("GOGC") != "" {
		return debug.FreeOSMemory
	}
	debug.SetGCPercent(garbageAtStart)
	return func() {
		debug.SetGCPercent(garbage)
		debug.FreeOSMemory()
	}
}
