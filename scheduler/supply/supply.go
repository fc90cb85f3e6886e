// Package supply models electric power as decisions see it: what nodes draw, and what the budgets
// leave at an instant. Package decide shares the power among vjobs.
//
// supply.go holds the figures of nodes, feed.go the limits on groups of nodes that placement keeps,
// reserve.go what reservations need later, and forecast.go what all budgets together will leave.
package supply

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/cpushare"
	"vjob/hypervisor"
)

// Supply is the power of nodes and the budgets on it.
type Supply struct {
	Models  map[cluster.NodeID]energy.Power // of the nodes, as far as they are known
	Budgets budget.Schedules
	Off     map[cluster.NodeID]bool         // nodes that draw no idle power
	Least   map[cluster.NodeID]energy.Watts // power that a node draws whatever runs there
}

// Known reports whether any node has a power model.
func (s *Supply) Known() bool { return len(s.Models) > 0 }

// Node returns a node with its power model.
func (s *Supply) Node(n *cluster.Node, power energy.Power) cpushare.Node {
	return cpushare.Node{Power: power, CPU: float64(n.Capacity.CPU), Off: s.Off[n.ID], MinDraw: s.Least[n.ID]}
}

// Average stands for the node of a VM without a place: its power for each CPU is the mean of the
// nodes that take VMs.
func (s *Supply) Average(nodes []cluster.Node) cpushare.Node {
	n := cpushare.Node{}
	for i := range nodes {
		if p, known := s.Models[nodes[i].ID]; known && nodes[i].Hosts() {
			n.CPU += float64(nodes[i].Capacity.CPU)
			n.Power.Full += p.Full - p.Idle
		}
	}
	return n
}

// perMilli returns what a thousandth of a CPU draws on average beside its idle node.
func (s *Supply) perMilli(nodes []cluster.Node) energy.Watts {
	n := s.Average(nodes)
	if n.CPU <= 0 {
		return 0
	}
	return n.Power.Full / energy.Watts(n.CPU)
}

// PerCPU returns what a busy CPU draws, with its part of the idle power of its node: the mean over
// the nodes with a power model. Without models it is 1, which suffices to compare prices.
func (s *Supply) PerCPU(nodes []cluster.Node) energy.Watts {
	full, cpu := energy.Watts(0), energy.Watts(0)
	for i := range nodes {
		if model, known := s.Models[nodes[i].ID]; known {
			full += model.Full
			cpu += energy.Watts(nodes[i].Capacity.CPU) / energy.Watts(cluster.CPU)
		}
	}
	if cpu == 0 || full == 0 {
		return 1
	}
	return full / cpu
}

// Idle returns what a node draws without load as it is switched now.
func (s *Supply) Idle(id cluster.NodeID, power energy.Power) energy.Watts {
	if s.Off[id] {
		return max(power.Standby, s.Least[id])
	}
	return max(power.Idle, s.Least[id])
}

// MinShareWatts returns what a vjob draws with its minimum share, beside idle nodes.
func (s *Supply) MinShareWatts(nodes []cluster.Node, job *cluster.VJob) energy.Watts {
	return s.perMilli(nodes) * energy.Watts(MinShare(job)*float64(job.Reserved().CPU))
}

// MinShare returns the least fraction of its CPU that a vjob accepts, at least what its VMs have reserved and the
// smallest cap that a hypervisor can set.
func MinShare(job *cluster.VJob) float64 {
	floor := job.MinShare
	if floor <= 0 {
		return 1
	}
	for i := range job.VMs {
		if cpu := job.VMs[i].Reserved.CPU; cpu > 0 {
			floor = max(floor, min(1, float64(max(hypervisor.MinCap, job.CPUReservation))/float64(cpu)))
		}
	}
	return min(floor, 1)
}

// Title names a limit with its figure: "the power budget of the cluster is 240 W (18:00-20:00)".
func Title(l *budget.Limit) string {
	return "the power budget of " + l.Group.Name() + " is " + figure(l)
}

// figure returns "240 W (18:00-20:00)".
func figure(l *budget.Limit) string {
	if l.When == "" {
		return l.Watts.String()
	}
	return l.Watts.String() + " (" + l.When + ")"
}

// MaxChanges bounds at how many future instants a decision looks.
const MaxChanges = 100

// changes returns the first instants of an interval at which the budgets change, with its start.
func (s *Supply) changes(from, until time.Time) []time.Time {
	list := []time.Time{from}
	for at, ok := s.Budgets.Next(from); ok && at.Before(until) && len(list) < MaxChanges; at, ok = s.Budgets.Next(at) {
		list = append(list, at)
	}
	return list
}

// clusterLimit returns the limit on the whole cluster at an instant.
func (s *Supply) clusterLimit(at time.Time) (l budget.Limit, ok bool) {
	limits := s.Budgets.At(at)
	i := slices.IndexFunc(limits, func(l budget.Limit) bool { return l.Group == budget.Group{} })
	if i < 0 || !s.Known() {
		return l, false
	}
	return limits[i], true
}
