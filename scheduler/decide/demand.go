package decide

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/queue"
)

// limitDemand limits the demand of vjobs that fits on no nodes that they may use, even alone on them: VMs may demand
// more CPU than they have reserved, and rules and hardware may leave them few nodes. Otherwise they would be suspended
// for room that can never be free.
func (v *View) limitDemand() {
	v.demandLimits = map[cluster.VJobID][]cluster.MilliCPU{}
	assumed := v.settings.Policy.Traits().Needs == queue.Assumed // vjobs start where their reservations may not fit
	var alone *aloneTest
	for i := range v.VJobs {
		r := &v.VJobs[i]
		if isApplicant(r) || !assumed && !exceedsReserved(r.Job, v.facts.Bookings) {
			continue
		}
		if alone == nil {
			alone = newAloneTest(v)
		}
		if most := alone.most(r); most != nil {
			v.demandLimits[r.Job.ID] = most
		}
	}
	v.facts.Bookings = limitedBookings{v.facts.Bookings, v.demandLimits}
}

// exceedsReserved reports whether a VM counts for more CPU than it has reserved.
func exceedsReserved(job *cluster.VJob, books Bookings) bool {
	return slices.ContainsFunc(job.VMs, func(vm cluster.VM) bool { return books.Need(vm.ID).CPU > vm.Reserved.CPU })
}

// limitedBookings are bookings in which the demand of some vjobs is limited.
type limitedBookings struct {
	Bookings
	limits map[cluster.VJobID][]cluster.MilliCPU // by rank
}

// Need implements [Bookings].
func (b limitedBookings) Need(vm cluster.VMID) cluster.Resources {
	need := b.Bookings.Need(vm)
	if most := b.limits[vm.VJob]; most != nil {
		need.CPU = min(need.CPU, most[vm.Rank])
	}
	return need
}

// allDemandLimits returns the limits, also those inside containers.
func (v *View) allDemandLimits() map[cluster.VJobID][]cluster.MilliCPU {
	all := maps.Clone(v.demandLimits)
	for i := range v.inside {
		maps.Copy(all, v.inside[i].demandLimits)
	}
	return all
}

// aloneTest tests whether vjobs fit when each is alone on all nodes of the cluster, in whatever state they are.
type aloneTest struct {
	*View
	nodes *cluster.Configuration
	rules []placement.Rules // of the cluster
}

func newAloneTest(v *View) *aloneTest {
	t := &aloneTest{View: v, nodes: cluster.NewConfiguration(cluster.AllOnline(v.layout.current.Nodes())...)}
	for _, text := range v.facts.Rules {
		if r := (placement.Rules{Text: text}); t.valid(r) {
			t.rules = append(t.rules, r)
		}
	}
	return t
}

func (t *aloneTest) valid(r placement.Rules) bool {
	return r.Text != "" && t.facts.Reader.Wrong(r, t.nodes.Nodes()) == nil
}

// leastPart is the smallest part of its reservation that is tried for a vjob: a half, a quarter, an eighth, then nothing.
const leastPart = 8

// most returns the CPU for which the VMs of a vjob may count at most, by rank; nil if the vjob fits. It is what
// they have reserved, or a part of that where a policy has placed them by less.
func (t *aloneTest) most(r *execute.Report) []cluster.MilliCPU {
	a := newApplicant(r.Job, t.facts.Bookings.Need)
	if t.valid(placement.Rules{VJob: a.VJob, Text: r.Job.Rules}) {
		a.Rules = r.Job.Rules
	}
	if t.fits(r, &a) {
		return nil
	}
	for part := cluster.MilliCPU(1); part <= leastPart; part *= 2 {
		most := make([]cluster.MilliCPU, len(r.Job.VMs))
		reduced := newApplicant(r.Job, func(vm cluster.VMID) cluster.Resources {
			need := a.Needs[vm.Rank]
			most[vm.Rank] = r.Job.VMs[vm.Rank].Reserved.CPU / part
			need.CPU = min(need.CPU, most[vm.Rank])
			return need
		})
		reduced.Rules = a.Rules
		if t.fits(r, &reduced) {
			return most
		}
	}
	return make([]cluster.MilliCPU, len(r.Job.VMs))
}

// fits reports whether a vjob fits alone.
func (t *aloneTest) fits(r *execute.Report, a *ctxswitch.Applicant) bool {
	if a.Rules == "" && len(t.rules) == 0 && t.compatible(r) && t.hasRoomForEach(a) {
		return true
	}
	p := ctxswitch.NewPacking(ctxswitch.PackingInput{
		Current: t.nodes, Rules: t.rules, Incompatible: t.layout.incompatible, Applicants: ctxswitch.NewApplicantQueue([]ctxswitch.Applicant{*a}),
	})
	fits, _ := p.Take(a.VJob)
	return fits || p.Err() != nil
}

// compatible reports whether all nodes can run each VM.
func (t *aloneTest) compatible(r *execute.Report) bool {
	return !slices.ContainsFunc(r.Job.VMs, func(vm cluster.VM) bool { return len(t.layout.incompatible[vm.ID]) > 0 })
}

// hasRoomForEach reports whether there is room for as many VMs of the size of the largest. It costs little where
// nodes are many.
func (t *aloneTest) hasRoomForEach(a *ctxswitch.Applicant) bool {
	var most cluster.Resources
	for _, need := range a.Needs {
		most.CPU, most.Memory = max(most.CPU, need.CPU, 1), max(most.Memory, need.Memory, 1)
	}
	left := len(a.Needs)
	for _, n := range t.nodes.Nodes() {
		left -= min(int(n.Capacity.CPU/most.CPU), int(n.Capacity.Memory/most.Memory))
		if left <= 0 {
			return true
		}
	}
	return false
}
