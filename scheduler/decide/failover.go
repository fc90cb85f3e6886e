package decide

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler/failover"
)

// Failover capacity: so much stays free that the VMs of any few nodes can start again on the others. A VM counts for
// what it reserves, or for its demand if that is more; a container counts, and the vjobs inside do not; a paused VM
// takes its memory where it is, and starts nowhere. Nodes that drain or do not answer may be lost and take nothing.

// failoverCheck tells whether placements of a view keep the failover capacity.
type failoverCheck struct {
	view  *View
	nodes []cluster.Node
	index map[cluster.NodeID]int
	jobs  map[cluster.VJobID]int // index in the view
	sizes [][]cluster.Resources  // of the VMs, by index in the view and by rank
	last  int                    // the index of the vjob that was last asked for: VMs of one are often asked for in a row
	// paused are the VMs that are paused in memory; running are those that run or are under way to.
	paused, running []placedVM
}

// placedVM is a VM on a node.
type placedVM struct {
	vm   cluster.VMID
	node int
}

// newFailoverCheck returns nil if no failover capacity is kept.
func newFailoverCheck(v *View) *failoverCheck {
	if v.settings.Failover == 0 {
		return nil
	}
	f := &failoverCheck{
		view: v, nodes: v.layout.intended.Nodes(), index: map[cluster.NodeID]int{}, jobs: make(map[cluster.VJobID]int, len(v.VJobs)),
	}
	f.sizes = make([][]cluster.Resources, len(v.VJobs))
	for i := range v.VJobs {
		job := v.VJobs[i].Job
		f.jobs[job.ID], f.sizes[i] = i, make([]cluster.Resources, len(job.VMs))
		for rank := range job.VMs {
			need, r := v.layout.intended.Need(job.VMs[rank].ID), job.VMs[rank].Reserved
			f.sizes[i][rank] = cluster.Resources{CPU: max(need.CPU, r.CPU), Memory: max(need.Memory, r.Memory)}
		}
	}
	for i := range f.nodes {
		f.index[f.nodes[i].ID] = i
	}
	for i := range f.nodes {
		for _, vm := range v.layout.intended.On(f.nodes[i].ID) {
			list := &f.paused
			if _, runs := v.layout.intended.Host(vm); runs {
				list = &f.running
			}
			*list = append(*list, placedVM{vm, i})
		}
	}
	return f
}

// size returns what a VM takes when it starts again.
func (f *failoverCheck) size(vm cluster.VMID) cluster.Resources {
	if f.last >= len(f.sizes) || f.view.VJobs[f.last].Job.ID != vm.VJob {
		i, known := f.jobs[vm.VJob]
		if !known {
			return f.view.layout.intended.Need(vm)
		}
		f.last = i
	}
	return f.sizes[f.last][vm.Rank]
}

// total returns what the VMs of a vjob take in sum.
func (f *failoverCheck) total(id cluster.VJobID) (sum cluster.Resources) {
	for _, size := range f.sizes[f.jobs[id]] {
		sum = sum.Plus(size)
	}
	return sum
}

// empty returns the nodes without VMs.
func (f *failoverCheck) empty() []failover.Node {
	list := make([]failover.Node, len(f.nodes))
	for i := range f.nodes {
		list[i].ID = f.nodes[i].ID
		if f.nodes[i].Hosts() {
			list[i].Free = f.nodes[i].Capacity
		}
	}
	return list
}

// add adds a VM that runs on a node.
func (f *failoverCheck) add(list []failover.Node, p placedVM) {
	size := f.size(p.vm)
	list[p.node].VMs = append(list[p.node].VMs, size)
	list[p.node].Free = list[p.node].Free.Minus(size)
}

// pause adds a VM that is paused on a node.
func (f *failoverCheck) pause(list []failover.Node, p placedVM) {
	list[p.node].Free = list[p.node].Free.Minus(f.size(p.vm).Paused())
}

// placement checks a configuration.
func (f *failoverCheck) placement(c *cluster.Configuration) failover.Report {
	return failover.Check(f.placed(c), f.view.settings.Failover)
}

// guards reports whether a vjob may not take failover capacity: it starts or resumes, was not lost with a node, for
// which the capacity is kept, and has no reservation that has begun.
func (f *failoverCheck) guards(r *execute.Report) bool {
	if r.Busy() || !r.Job.State.Ready() || f.view.facts.reservationDue(r.Job) {
		return false
	}
	lost := r.Job.Cause.Is(cluster.CauseLost) || r.Job.Cause.Is(cluster.CauseAborted) && r.Record.Losses > 0
	return !lost || r.Job.State != cluster.Waiting
}

// guarded returns the vjobs that start by the verdicts and may not take failover capacity, in order.
func (f *failoverCheck) guarded(verdicts []queue.Verdict) (list []int) {
	for i := range f.view.VJobs {
		if verdicts[i].Target == queue.Run && f.guards(&f.view.VJobs[i]) {
			list = append(list, i)
		}
	}
	return list
}

// failoverRoom is capacity of which vjobs that start leave so much that lost nodes can be made up for. The vjobs that
// are known to keep running count from the beginning, where they are: none of them is suspended for others that start.
type failoverRoom struct {
	*ctxswitch.Packing
	*failoverCheck
	keeps    map[cluster.VJobID]bool
	stays    map[cluster.VJobID]bool // paused vjobs that cannot be saved now
	starters map[cluster.VJobID]bool // vjobs that may not take failover capacity
	taken    map[cluster.VJobID]bool
	report   *failover.Report // of what is taken; nil: unknown
	refused  map[string]string
}

func (f *failoverCheck) room(p *ctxswitch.Packing, keeps map[cluster.VJobID]bool, unsavable map[cluster.VJobID]string) *failoverRoom {
	r := &failoverRoom{
		Packing: p, failoverCheck: f, keeps: keeps, stays: map[cluster.VJobID]bool{}, starters: map[cluster.VJobID]bool{}, taken: map[cluster.VJobID]bool{}, refused: map[string]string{},
	}
	for i := range f.view.VJobs {
		o := &f.view.VJobs[i]
		r.starters[o.Job.ID] = f.guards(o)
		r.stays[o.Job.ID] = o.Busy() || unsavable[o.Job.ID] != "" || f.view.quarantined[o.Job.ID] != ""
	}
	return r
}

// Take implements [queue.Capacity].
func (r *failoverRoom) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	if !r.starters[id] || r.taken[id] {
		if ok, short = r.Packing.Take(id); ok && !r.taken[id] {
			r.taken[id], r.report = true, nil
		}
		return ok, short
	}
	if r.report == nil {
		report := r.check()
		r.report = &report
	}
	shape := r.shape(id)
	if after := r.report.Needs(r.total(id)); !after.Holds {
		return false, r.shortage(&after)
	} else if why := r.refused[shape]; why != "" {
		return false, queue.Shortage{Kept: why, Kind: cluster.CauseFailover}
	}
	if ok, short = r.Packing.Take(id); !ok {
		return ok, short
	}
	r.taken[id] = true
	report := r.check()
	if report.Holds {
		r.report = &report
		clear(r.refused)
		return true, queue.Shortage{}
	}
	delete(r.taken, id)
	r.Drop(id)
	short = r.shortage(&report)
	r.refused[shape] = short.Kept
	return false, short
}

// shape is equal for vjobs that reserve the same and have no rules.
func (r *failoverRoom) shape(id cluster.VJobID) string {
	job := r.view.VJobs[r.jobs[id]].Job
	if job.Rules != "" {
		return id.String()
	}
	return fmt.Sprint(r.sizes[r.jobs[id]])
}

// shortage says what is missing for a vjob beside what is kept.
func (r *failoverRoom) shortage(report *failover.Report) queue.Shortage {
	return queue.Shortage{Missing: report.Short(), Kept: keepsRoom(report), Kind: cluster.CauseFailover}
}

// keepsRoom returns "keeps room for the loss of a node (policy.failover): 4 CPU short".
func keepsRoom(report *failover.Report) string {
	return fmt.Sprintf("keeps room for %s (policy.failover): %s", failover.Of(report.Nodes), report.Why())
}

// check checks what is taken beside the vjobs that keep running and the paused ones that cannot be saved now: others make room.
func (r *failoverRoom) check() failover.Report {
	list := r.empty()
	for vm, node := range r.Placed() {
		r.add(list, placedVM{vm, node})
	}
	for _, p := range r.running {
		if r.keeps[p.vm.VJob] && !r.taken[p.vm.VJob] {
			r.add(list, p)
		}
	}
	for _, p := range r.paused {
		if !r.taken[p.vm.VJob] && r.stays[p.vm.VJob] {
			r.pause(list, p)
		}
	}
	return failover.Check(list, r.view.settings.Failover)
}

// besidePaused returns whether failover capacity is left beside the vjobs in a room if one more stays paused in memory, each time
// beside those that stay. Where no vjob starts, nothing depends on it.
func (f *failoverCheck) besidePaused(room *ctxswitch.Packing, verdicts []queue.Verdict) func(id cluster.VJobID) bool {
	if f == nil || len(f.guarded(verdicts)) == 0 {
		return func(cluster.VJobID) bool { return true }
	}
	list := f.empty()
	for vm, node := range room.Placed() {
		f.add(list, placedVM{vm, node})
	}
	return func(id cluster.VJobID) bool {
		with := slices.Clone(list)
		for _, p := range slices.Concat(f.paused, f.running) {
			if p.vm.VJob == id {
				f.pause(with, p)
			}
		}
		if !failover.Check(with, f.view.settings.Failover).Holds {
			return false
		}
		list = with
		return true
	}
}

// applyPolicy asks the policy which vjobs should run within the limits, in queue order. It returns the fault of the
// first packing that cannot judge any vjob. If vjobs start and failover capacity is kept, it asks again beside the
// vjobs that keep running, until none is added to these.
func (a *attempt) applyPolicy() (verdicts []queue.Verdict, fault error) {
	if a.closed != "" {
		return suspendAll(a.View), nil
	}
	verdicts, fault = a.applyPolicyBeside(nil, nil)
	f := a.failover
	if f == nil || fault != nil || len(f.guarded(verdicts)) == 0 {
		return verdicts, fault
	}
	keeps := map[cluster.VJobID]bool{}
	for range maxRounds {
		before := len(keeps)
		for _, p := range f.running {
			if id := p.vm.VJob; !keeps[id] && verdicts[f.jobs[id]].Target == queue.Run {
				keeps[id] = true
			}
		}
		if len(keeps) == before && before > 0 {
			break
		}
		verdicts, fault = a.applyPolicyBeside(f, keeps)
		if len(keeps) == 0 {
			break
		}
	}
	return verdicts, fault
}

// failoverAfter returns whether nodes can be lost after a plan.
func (a *attempt) failoverAfter(plan *ctxswitch.Plan) (report failover.Report) {
	switch {
	case a.failover == nil:
		return report
	case plan.Target != nil:
		return a.failover.placement(plan.Target)
	}
	return a.failover.placement(a.trial.intended)
}

// startPlaces returns the nodes to which approved starts take the VMs, and those that leave the failover capacity.
func (a *attempt) startPlaces() map[cluster.VMID]cluster.NodeID {
	places := a.facts.places()
	if len(a.places) == 0 {
		return places
	}
	all := maps.Clone(a.places)
	maps.Copy(all, places)
	return all
}

// failoverPlaces returns where a packing of the vjobs that are to run puts those that start.
func (s *planning) failoverPlaces() map[cluster.VMID]cluster.NodeID {
	packings := s.trial.packings()
	room, starts := packings.empty(s.supply.Feeds(s.trial.intended.Nodes(), s.Limits.Now, s.jobs())), s.failover.guarded(s.targets)
	places := map[cluster.VMID]cluster.NodeID{}
	starting := map[int]bool{}
	for _, i := range starts {
		starting[i] = true
	}
	for i := range s.VJobs {
		if s.targets[i].Target == queue.Run && !starting[i] {
			room.Take(s.VJobs[i].Job.ID)
		}
	}
	for _, i := range starts {
		if ok, _ := room.Take(s.VJobs[i].Job.ID); !ok {
			continue
		}
		for rank, node := range room.Places(s.VJobs[i].Job.ID) {
			places[s.VJobs[i].Job.VMs[rank].ID] = node
		}
	}
	return places
}

// breaksFailover changes the targets if a plan leaves too little for the loss of nodes: first the vjobs that start
// go where the packing has put them, then the later half of them waits. It reports whether there are any.
func (s *planning) breaksFailover(target *cluster.Configuration) bool {
	if s.failover == nil || target == nil {
		return false
	}
	starts := s.failover.guarded(s.targets)
	if len(starts) == 0 {
		return false
	}
	report := s.failover.placement(target)
	if report.Holds {
		return false
	}
	if s.places == nil {
		s.places = s.failoverPlaces()
		return true
	}
	why := keepsRoom(&report)
	for _, i := range starts[len(starts)/2:] {
		s.targets[i] = queue.Verdict{Target: queue.Wait, Reason: "waits: " + why, Cause: &cluster.Cause{Kind: cluster.CauseFailover, Short: report.Short(), Text: why}}
	}
	return true
}
