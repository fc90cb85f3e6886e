package scheduler

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
)

// capacityLog records what each node offers whenever that changes: reports compare use with it.
type capacityLog struct {
	exec  *execute.Executor
	out   *journal.Step
	known map[cluster.NodeID]cluster.Resources // as recorded
	seen  uint64                               // changes of what nodes offer so far
	begun bool
}

func newCapacityLog(loaded []journal.NodeCapacity, exec *execute.Executor, out *journal.Step) *capacityLog {
	l := &capacityLog{exec: exec, out: out, known: map[cluster.NodeID]cluster.Resources{}}
	for _, c := range loaded {
		l.known[c.Node] = c.Has
	}
	return l
}

// note records the changes since the last call. Nodes that the settings no longer have offer nothing.
func (l *capacityLog) note(now time.Time) {
	if l.begun && l.exec.Offers() == l.seen {
		return
	}
	l.begun, l.seen = true, l.exec.Offers()
	offered := l.exec.Offered()
	for _, id := range slices.Sorted(maps.Keys(l.known)) {
		if _, there := offered[id]; !there {
			offered[id] = cluster.Resources{}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(offered)) {
		if was, known := l.known[id]; known && was == offered[id] {
			continue
		}
		l.known[id] = offered[id]
		l.out.Capacity = append(l.out.Capacity, journal.NodeCapacity{At: now, Node: id, Has: offered[id]})
	}
}
