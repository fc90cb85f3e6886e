package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

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

func (p *View) imageSpace() *imageSpace {
	return &imageSpace{p.images, map[string]cluster.MiB{}, p.noImages}
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

// maxPasses bounds how often the policy is asked again because its wishes cannot be met.
const maxPasses = 8

// chooseTargets asks the policy which vjobs should run. If the images of a vjob cannot be stored it
// keeps running, and the policy is asked again.
func (p *View) chooseTargets() (wished []queue.Verdict, fault error) {
	wished, fault = p.applyPolicy()
	first, tried := wished, map[int]bool{}
	for range maxPasses {
		standing := p.choosePaused(wished)
		lacks, news := p.imageShortages(standing), p.scaleUnsavable(standing)
		for i, lack := range lacks {
			if job := p.VJobs[i].Job; p.nonPreemptible[job.ID] == "" {
				p.nonPreemptible[job.ID], news = "it cannot be suspended: "+lack, true
			}
		}
		if i := p.stuck(lacks, tried); i >= 0 {
			tried[i] = true
			if own, ok := p.resumePausedFirst(i); ok {
				wished = own
				continue
			}
		}
		if !news {
			break
		}
		wished, fault = p.applyPolicy()
	}
	p.explainKept(first, wished)
	return wished, fault
}

// imageShortages returns the vjobs that should be saved and lack image space, with what is
// missing. vjobs suspended by users take space first, then the queue order counts.
func (p *View) imageShortages(verdicts []queue.Verdict) map[int]string {
	list, shelf := map[int]string{}, p.imageSpace()
	for _, held := range []bool{true, false} {
		for i := range p.VJobs {
			r := &p.VJobs[i]
			if r.Job.Held != held || !p.needsImage(i, verdicts[i].Target) {
				continue
			}
			if lack := shelf.reserve(r); lack != "" {
				list[i] = lack
			}
		}
	}
	return list
}

// needsImage reports whether a vjob is saved to disk with this target.
func (p *View) needsImage(i int, wish queue.Target) bool {
	r := &p.VJobs[i]
	if wish != queue.Suspend || !r.Idle || r.Blind || p.ineligible[r.Job.ID] != "" || p.quarantined[r.Job.ID] != "" {
		return false
	}
	return r.Job.State == cluster.Paused || r.Job.State == cluster.Running && !r.Job.Container && !queue.IsEnded(r.Job)
}

// exceedsImageSpace reports whether a plan moves vjobs through images that have no space: the
// executor would refuse it again and again. The next plan moves them live or not at all.
func (p *View) exceedsImageSpace(verdicts []queue.Verdict, plan ctxswitch.Plan) (some bool) {
	shelf, moved := p.imageSpace(), map[cluster.VJobID]bool{}
	for _, g := range plan.Gangs {
		moved[g.VJob] = moved[g.VJob] || g.Kind == cluster.Suspend
	}
	for i := range p.VJobs {
		if p.needsImage(i, verdicts[i].Target) {
			shelf.reserve(&p.VJobs[i])
		}
	}
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if verdicts[i].Target != queue.Run || !moved[r.Job.ID] || r.Job.State != cluster.Running || p.unsavable[r.Job.ID] || shelf.reserve(r) == "" {
			continue
		}
		p.unsavable[r.Job.ID], some = true, true
	}
	return some
}

// stuck returns the first paused vjob that should be saved and cannot, unless it was tried;
// otherwise -1.
func (p *View) stuck(lacks map[int]string, tried map[int]bool) int {
	for _, i := range slices.Sorted(maps.Keys(lacks)) {
		if job := p.VJobs[i].Job; job.State == cluster.Paused && !job.Held && !tried[i] {
			return i
		}
	}
	return -1
}

// resumePausedFirst asks the policy without the vjobs that want the memory of a paused vjob. It
// reports false, and undoes the change, if that does not let the paused vjob resume.
func (p *View) resumePausedFirst(stuck int) (wished []queue.Verdict, ok bool) {
	id, before := p.VJobs[stuck].Job.ID, p.ineligible
	p.ineligible = maps.Clone(before)
	p.deferOthers(fmt.Sprintf("vjob %s, which stands still in memory, goes on first: %s", id, p.nonPreemptible[id]))
	wished, fault := p.applyPolicy()
	if fault != nil || wished[stuck].Target != queue.Run {
		p.ineligible = before
		return nil, false
	}
	return wished, true
}

// placeSuspended decides which suspended vjobs stay in memory. vjobs that cannot be saved stay
// where they are.
func (p *View) placeSuspended(wished []queue.Verdict) []queue.Verdict {
	verdicts := p.choosePaused(wished)
	lacks := p.imageShortages(verdicts)
	if len(lacks) == 0 {
		return verdicts
	}
	verdicts = slices.Clone(verdicts)
	for i, lack := range lacks {
		v := &verdicts[i]
		v.Target = queue.Run
		if p.VJobs[i].Job.State == cluster.Paused {
			v.Target = queue.Wait
		}
		v.Reason += "; it cannot be suspended to disk: " + lack
		if p.throttled[p.VJobs[i].Job.ID] {
			v.Reason += "; it gets next to no CPU until it can"
		}
		v.Again = p.now.Add(imageRetry)
	}
	return verdicts
}

// imageRetry is how long after a shortage image space is checked again if nothing else happens.
const imageRetry = time.Minute

// explainKept adds to the reason of each vjob that cannot start which vjob could not be
// suspended for it.
func (p *View) explainKept(first, wished []queue.Verdict) {
	var who string
	for i := range p.VJobs {
		if why := p.nonPreemptible[p.VJobs[i].Job.ID]; why != "" && who == "" {
			who = fmt.Sprintf("; vjob %s keeps its room: %s", p.VJobs[i].Job.ID, why)
			wished[i].Again = p.now.Add(imageRetry)
		}
	}
	for i := range wished {
		if r := &p.VJobs[i]; who != "" && r.Job.State.Ready() && first[i].Target == queue.Run && wished[i].Target == queue.Wait && p.ineligible[r.Job.ID] == "" {
			wished[i].Reason += who
		}
	}
}

// needsInPlace returns what the VMs of a vjob count for. A paused vjob that cannot be saved and
// needs more CPU than its nodes have resumes with what they have, and moves once it runs.
// Otherwise it would block its nodes for ever.
func (p *View) needsInPlace(r *execute.Report, books Bookings) Bookings {
	if r.Job.State != cluster.Paused || p.imageSpace().reserve(r) == "" {
		return books
	}
	return p.scaleNeeds(r, books)
}

// scaleNeeds scales the needs of a vjob to the CPU of its nodes.
func (p *View) scaleNeeds(r *execute.Report, books Bookings) scaledNeeds {
	wants := map[cluster.NodeID]cluster.MilliCPU{}
	for rank, m := range r.Record.Members {
		if !m.Ended {
			wants[m.Node] += books.Need(r.Job.VMs[rank].ID).CPU
		}
	}
	return scaledNeeds{books, p.current, r.Record.Members, wants}
}

// scaleUnsavable keeps vjobs running with the CPU that their nodes have, if they would be
// suspended for lack of CPU and cannot be saved. Otherwise they would stay paused for ever or
// stop at every decision. It reports whether there are any.
func (p *View) scaleUnsavable(standing []queue.Verdict) (some bool) {
	for i, v := range standing {
		r := &p.VJobs[i]
		if v.Target == queue.Run || r.Job.State != cluster.Running || r.Job.Held || !p.needsImage(i, queue.Suspend) {
			continue
		}
		lack, books := p.imageSpace().reserve(r), p.scaleNeeds(r, p.books)
		if lack == "" || !books.overcommitted() {
			continue
		}
		for rank, m := range r.Record.Members {
			vm := r.Job.VMs[rank].ID
			if need := books.Need(vm); !m.Ended && need != p.intended.Need(vm) {
				p.current.SetRunning(vm, need, m.Node)
				p.intended.SetRunning(vm, need, m.Node)
				some = true
			}
		}
		p.nonPreemptible[r.Job.ID] = "it cannot be suspended: " + lack
	}
	return some
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
