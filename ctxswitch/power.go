package ctxswitch

import (
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Power is what a plan may draw, and how that is counted: as the most that can be drawn,
// by the CPU that VMs may use. A VM that is being booted, resumed or saved counts, one
// that migrates counts on the hungrier of its two nodes, since it runs on one of them at a
// time; one that is saved or stands still does not.
type Power struct {
	// Idle is what a node draws whatever runs there: for being on, off, or switched.
	Idle map[cluster.NodeID]energy.Watts
	// Slope is the most that one CPU more adds. Nodes without one are not counted.
	Slope map[cluster.NodeID]energy.Watts
	// Most is the CPU that a VM uses at most, as long as it runs.
	Most   map[cluster.VMID]cluster.MilliCPU
	Limits []PowerLimit
}

// PowerLimit is what some nodes may draw together.
type PowerLimit struct {
	Name  string // of the nodes, for people
	Watts energy.Watts
	Nodes []cluster.NodeID
	// From and Until say when it holds, from the start of the plan; both 0: all along.
	From, Until time.Duration
}

// milliwatts is how sums are made, so that they are exact.
type milliwatts int64

func inMilliwatts(w energy.Watts) milliwatts { return milliwatts(w*1000 + 0.5) }

// adds is what a VM adds to what a node draws.
func (p *Power) adds(vm cluster.VMID, node cluster.NodeID) milliwatts {
	return inMilliwatts(p.Slope[node] * energy.Watts(p.Most[vm]) / energy.Watts(cluster.CPU))
}

// idle is what the nodes of a limit draw whatever runs there.
func (p *Power) idle(l *PowerLimit) (sum milliwatts) {
	for _, n := range l.Nodes {
		sum += inMilliwatts(p.Idle[n])
	}
	return sum
}

// spare is what is left of a limit beside that; less than 0: nothing, and so much is
// missing.
func (p *Power) spare(l *PowerLimit) milliwatts { return inMilliwatts(l.Watts) - p.idle(l) }
