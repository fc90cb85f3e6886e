package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/queue"
)

// Image space is a resource: a vjob without it cannot be saved, so that others cannot have its
// resources.

// imageSpace is the free space for images that one decision can hand out.
type imageSpace struct {
	spaces hypervisor.Spaces
	taken  map[string]cluster.MiB // of each pool
	closed string                 // why there is no space at all; "" if there may be
}

func (f *Facts) imageSpace() *imageSpace {
	return &imageSpace{f.Images, map[string]cluster.MiB{}, f.NoImages}
}

// reserve takes the space for the images of a vjob. If some is missing it takes nothing and
// returns what is missing.
func (s *imageSpace) reserve(r *execute.Report) (lack string) {
	if s.closed != "" {
		return s.closed
	}
	need := s.need(r)
	for _, m := range r.Record.Members {
		if lack = s.spaces.Shortage(m.Node, need, s.taken); !m.Ended && lack != "" {
			return lack
		}
	}
	for pool, mib := range need {
		s.taken[pool] += mib
	}
	return ""
}

// need returns the image space of a vjob in each pool, counted as the executor counts it:
// otherwise the executor could refuse what was decided, for a few MiB, again and again.
func (s *imageSpace) need(r *execute.Report) map[string]cluster.MiB {
	need := map[string]cluster.MiB{}
	for rank, m := range r.Record.Members {
		if !m.Ended {
			need[s.spaces[m.Node].Pool] += gang.ImageSpace(r.Job.VMs[rank].Reserved.Memory)
		}
	}
	return need
}

// imageShortages returns the vjobs that should be saved and lack image space, with what is
// missing. vjobs suspended by users take space first, then the queue order counts.
func (a *attempt) imageShortages(verdicts []queue.Verdict) map[int]string {
	list, space := map[int]string{}, a.facts.imageSpace()
	for _, held := range []bool{true, false} {
		for i := range a.VJobs {
			r := &a.VJobs[i]
			if r.Job.Held != held || !a.needsImage(i, verdicts[i].Target) {
				continue
			}
			if lack := space.reserve(r); lack != "" {
				list[i] = lack
			}
		}
	}
	return list
}

// needsImage reports whether a vjob is saved to disk with this target.
func (a *attempt) needsImage(i int, target queue.Target) bool {
	r := &a.VJobs[i]
	if target != queue.Suspend || r.Busy() || a.excludes(r.Job.ID) {
		return false
	}
	return r.Job.State == cluster.Paused || r.Job.State == cluster.Running && !r.Job.Container && !queue.IsEnded(r.Job)
}

// exceedsImageSpace reports whether a plan moves vjobs through images that have no space: the
// executor would refuse it again and again. The next plan moves them live or not at all.
func (a *attempt) exceedsImageSpace(verdicts []queue.Verdict, plan ctxswitch.Plan) (some bool) {
	space, moved := a.facts.imageSpace(), map[cluster.VJobID]bool{}
	for _, g := range plan.Gangs {
		moved[g.VJob] = moved[g.VJob] || g.Kind == cluster.Suspend
	}
	for i := range a.VJobs {
		if a.needsImage(i, verdicts[i].Target) {
			space.reserve(&a.VJobs[i])
		}
	}
	for i := range a.VJobs {
		r := &a.VJobs[i]
		if verdicts[i].Target != queue.Run || !moved[r.Job.ID] || r.Job.State != cluster.Running || a.unsavable[r.Job.ID] || space.reserve(r) == "" {
			continue
		}
		a.unsavable[r.Job.ID], some = true, true
	}
	return some
}

// bookingsInPlace returns what the VMs of a vjob count for. A paused vjob that cannot be saved and
// needs more CPU than its nodes have resumes with what they have, and moves once it runs.
// Otherwise it would block its nodes for ever.
func (v *View) bookingsInPlace(r *execute.Report) Bookings {
	if r.Job.State != cluster.Paused || v.facts.imageSpace().reserve(r) == "" {
		return v.facts.Bookings
	}
	return scaleNeeds(r, v.facts.Bookings, v.layout.current)
}

// scaleNeeds scales the needs of a vjob to the CPU of its nodes.
func scaleNeeds(r *execute.Report, books Bookings, on *cluster.Configuration) scaledNeeds {
	wants := map[cluster.NodeID]cluster.MilliCPU{}
	for rank, m := range r.Record.Members {
		if !m.Ended {
			wants[m.Node] += books.Need(r.Job.VMs[rank].ID).CPU
		}
	}
	return scaledNeeds{books, on, r.Record.Members, wants}
}

// scaledNeeds are bookings in which the VMs of one vjob share the CPU of their nodes.
type scaledNeeds struct {
	Bookings
	nodes   *cluster.Configuration
	members []gang.Member
	wants   map[cluster.NodeID]cluster.MilliCPU
}

// overcommitted reports whether a node has less CPU than its VMs need.
func (s scaledNeeds) overcommitted() bool {
	for at, cpu := range s.wants {
		if n, known := s.nodes.Node(at); known && cpu > n.Capacity.CPU {
			return true
		}
	}
	return false
}

// Need implements [Bookings].
func (s scaledNeeds) Need(vm cluster.VMID) cluster.Resources {
	need, at := s.Bookings.Need(vm), s.members[vm.Rank].Node
	if n, known := s.nodes.Node(at); known && s.wants[at] > n.Capacity.CPU {
		need.CPU = need.CPU * n.Capacity.CPU / s.wants[at]
	}
	return need
}
