package decide

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler/entitlement"
)

// entitleEvery is the default of [Settings.EntitleEvery] (VMware 2012 §3.1).
const entitleEvery = 5 * time.Minute

// nextDivision returns when the cluster is divided again, since demands change without an event; zero: never.
func (s *Settings) nextDivision(f *Facts) time.Time {
	switch {
	case f.Pools == nil:
		return time.Time{}
	case s.EntitleEvery > 0:
		return f.Now.Add(s.EntitleEvery)
	default:
		return f.Now.Add(entitleEvery)
	}
}

// Entitle divides the nodes that are on among the VMs that run or are about to by a decision, and sets the
// weights and, where a limit binds, the caps of the decision. Without pools it does nothing.
func (v *View) Entitle(d *Decision) {
	if v.facts.Pools == nil {
		return
	}
	s := &sharing{View: v, d: d, nodes: map[cluster.NodeID]cluster.Resources{}, pools: map[cluster.VJobID]string{}}
	s.addNodes()
	d.Division = entitlement.Divide(v.facts.Pools, s.nodes, s.vms())
	d.Weights = map[cluster.VJobID][]int{}
	for i := range d.VJobs {
		s.apply(d.VJobs[i].Job)
	}
}

// sharing is one division.
type sharing struct {
	*View
	d     *Decision
	nodes map[cluster.NodeID]cluster.Resources // what they have, of those that are on and answer
	pools map[cluster.VJobID]string            // of containers: their inner vjobs are in the same
}

// addNodes adds the nodes that are on and answer.
func (s *sharing) addNodes() {
	for _, n := range s.facts.Nodes {
		if n.On && !n.Silent && n.State != cluster.Down && n.State != cluster.Offline {
			node, _ := s.layout.current.Node(n.ID)
			s.nodes[n.ID] = node.Capacity
		}
	}
}

// vms lists the VMs that run or are about to, on nodes that count, without those of containers: the vjobs inside
// demand instead of these.
func (s *sharing) vms() (list []entitlement.VM) {
	for i := range s.d.VJobs {
		r := &s.d.VJobs[i]
		name := s.poolOf(r.Job)
		if r.Job.Container {
			s.pools[r.Job.ID] = name
			continue
		}
		if r.Job.Inner != 0 && r.Job.Pool == "" {
			name = s.pools[r.Job.Inner]
		}
		if s.d.Verdicts[i].Target == queue.Run || r.Bound == cluster.VMRunning && !r.Idle {
			list = s.vmsOf(list, r, name)
		}
	}
	return list
}

func (s *sharing) vmsOf(list []entitlement.VM, r *execute.Report, name string) []entitlement.VM {
	shares, err := cluster.ParseShares(r.Job.Shares)
	if err != nil {
		shares, _ = cluster.ParseShares("") // it was checked at the submission
	}
	for rank := range r.Job.VMs {
		vm := &r.Job.VMs[rank]
		var at cluster.NodeID
		if rank < len(r.Record.Members) {
			m := &r.Record.Members[rank]
			if m.Ended {
				continue
			}
			at = cmp.Or(m.Next, m.Node) // it is on its way there, or there
		}
		if target := s.d.Plan.Target; target != nil {
			if host, runs := target.Host(vm.ID); runs {
				at = host
			}
		}
		if _, divided := s.nodes[at]; !divided {
			continue
		}
		list = append(list, entitlement.VM{
			ID: vm.ID, Pool: name, Node: at, Size: vm.Reserved, Demand: s.facts.demandOf(r.Job, rank),
			Reservation: r.Job.CPUReservation, Limit: r.Job.CPULimit, Shares: shares,
		})
	}
	return list
}

// demandOf returns the CPU that a VM demands, or what it reserves before it has run.
func (f *Facts) demandOf(job *cluster.VJob, rank int) cluster.MilliCPU {
	vm := &job.VMs[rank]
	if f.Demand != nil && job.State != cluster.Waiting {
		return f.Demand(vm.ID)
	}
	return vm.Reserved.CPU
}

// apply sets the weights and the caps of a vjob. A cap is the smaller of those of limits and of power budgets.
func (s *sharing) apply(job *cluster.VJob) {
	weights, caps := make([]int, len(job.VMs)), slices.Clone(s.d.Caps[job.ID])
	capped, weighed := len(caps) > 0, false
	if !capped {
		caps = make([]cluster.MilliCPU, len(job.VMs))
	}
	for rank := range job.VMs {
		share, known := s.d.Division.VMs[job.VMs[rank].ID]
		if !known {
			continue
		}
		weights[rank], weighed = share.Weight, true
		if share.Cap > 0 && (caps[rank] == 0 || share.Cap < caps[rank]) {
			caps[rank], capped = share.Cap, true
		}
	}
	if weighed {
		s.d.Weights[job.ID] = weights
	}
	if capped {
		if s.d.Caps == nil {
			s.d.Caps = map[cluster.VJobID][]cluster.MilliCPU{}
		}
		s.d.Caps[job.ID] = caps
	}
}
