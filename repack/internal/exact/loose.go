package exact

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// Bound looks for the cheapest of more plans than there are: a node that is over its capacity at first may
// carry as much as then until the end. To such a node a VM may come at the instant at which another leaves
// ([repack.Check]), but an execution that is late or early by a little needs more; so [Search] lets none come
// before the node is relieved, and its plans are for use. If none of the others costs less, they are the best.
func Bound(s *placement.State, limit int64, steps int) Result {
	e := newSearch(s, limit, steps)
	e.loose, e.passing = true, slices.Clone(e.Room)
	load := make([]int64, len(e.Room))
	for vm := range e.In.VMs {
		if v := &e.In.VMs[vm]; v.State == repack.Running {
			for d := range e.Dims {
				load[v.Host*e.Dims+d] += e.Now[vm*e.Dims+d]
			}
		}
	}
	for i := range load {
		e.passing[i] = max(e.passing[i], load[i])
	}
	return e.run()
}
