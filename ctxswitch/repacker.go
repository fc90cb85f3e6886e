package ctxswitch

import (
	"time"

	"vjob/cluster"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
)

// Repacker is the planner that looks for the cheapest context switch: where VMs
// go is the bin repacking scheduling problem, see [solve.Solve]; the order of the
// actions is that of gangs, see [Plan]. Where it finds no target, or one that
// gangs cannot reach, [Greedy] has the last word. It is a value without state.
type Repacker struct {
	// Rounds bounds the improvement of a first target; 0 is [DefaultRounds].
	Rounds int
	// Clock gives each search its Stop, to end it before its rounds are used up;
	// nil: the rounds alone decide, and so the same problem gives the same plan.
	Clock func() (stop func() bool)
}

// DefaultRounds is a few hundredths of a second of improvement.
const DefaultRounds = 256

var _ Planner = Repacker{}

// Plan returns the plan to the best target found. The error is a *[NoPlan].
func (r Repacker) Plan(p Problem) (Plan, error) {
	s, err := newSurvey(p)
	if err != nil {
		return Plan{}, err
	}
	if target := r.target(s); target != nil {
		if plan, stuck := s.plan(target); stuck == nil {
			return plan, nil
		}
	}
	return Greedy{}.Plan(p)
}

// target is the best layout found, or nil.
func (r Repacker) target(s *survey) *layout {
	target := s.layout()
	members := s.members(target)
	target.scarce = scarcest(members, target.capacity())
	items := gather(target, members)
	q := newRepacking(s)
	if q == nil {
		return nil
	}
	o := solve.Options{Seed: s.Seed, Iterations: r.Rounds}
	if o.Iterations == 0 {
		o.Iterations = DefaultRounds
	}
	if r.Clock != nil {
		o.Stop = r.Clock()
	}
	result, err := solve.Solve(&q.in, o)
	if err != nil || result.Verdict != solve.Solved {
		return nil
	}
	at := q.hosts(result.Plan)
	for _, it := range items {
		n, ok := at[it.vms[0]]
		if !ok {
			return nil
		}
		target.put(it, n)
	}
	return target
}

// repacking is a survey as the problem of the bin repacking paper: VMs and nodes
// have numbers, times are milliseconds.
type repacking struct {
	*survey
	in     repack.Instance
	number map[cluster.VMID]int
	vms    []cluster.VMID
}

// newRepacking translates a survey; nil: it has something that an instance cannot
// say, such as a VM that runs on a node nobody knows.
func newRepacking(s *survey) *repacking {
	q := &repacking{survey: s, number: map[cluster.VMID]int{}}
	q.in.Dims = []string{"mCPU", "MiB"}
	where := map[cluster.NodeID]int{}
	for i, n := range s.nodes {
		where[n.ID] = i
		q.in.Nodes = append(q.in.Nodes, q.node(n))
	}
	placed := map[cluster.VMID]bool{}
	for _, vm := range s.placed {
		placed[vm] = true
	}
	for _, vm := range s.Current.VMs() {
		if !placed[vm] && !s.runs(vm) {
			continue
		}
		host, known := where[s.Current.Place(vm)]
		if !known {
			host = repack.Nowhere
		}
		if host == repack.Nowhere && s.runs(vm) {
			return nil
		}
		q.add(vm, host, placed[vm])
	}
	q.gangs()
	if !q.rules() {
		return nil
	}
	q.drain()
	if q.in.Validate() != nil {
		return nil
	}
	return q
}

// node is a node with the room that claims leave. One that takes nothing any more
// is on for those who are still there; see [repacking.drain].
func (q *repacking) node(n cluster.Node) repack.Node {
	free := n.Capacity.Minus(q.Claims[n.ID])
	node := repack.Node{Name: string(n.ID), Capacity: []int64{max(0, int64(free.CPU)), max(0, int64(free.Memory))}}
	if n.State == cluster.Offline || n.State == cluster.Down {
		node.Want = repack.Offline
	}
	return node
}

func (q *repacking) add(vm cluster.VMID, host int, placed bool) {
	need, costs := q.count(vm), &q.Costs
	takes := func(kind cluster.ActionKind, remote bool) repack.Ticks {
		return repack.Ticks(costs.Duration(kind, need.Memory, remote) / time.Millisecond)
	}
	v := repack.VM{
		Name: vm.String(), Host: host, Weight: 1,
		Now: []int64{int64(need.CPU), int64(need.Memory)}, Next: []int64{int64(need.CPU), int64(need.Memory)},
		Takes: repack.Durations{
			Boot: takes(cluster.Boot, false), Shutdown: takes(cluster.Stop, false), Suspend: takes(cluster.Suspend, false),
			ResumeLocal: takes(cluster.Resume, false), ResumeRemote: takes(cluster.Resume, true), Migrate: max(1, takes(cluster.Migrate, false)),
		},
		Sleepable: true, Paused: q.rigid[vm.VJob], Stays: q.fixed[vm] || q.Pinned[vm],
	}
	switch state, _ := q.Current.State(vm); state {
	case cluster.VMRunning:
		v.State = repack.Running
	case cluster.VMSleeping:
		v.State = repack.Sleeping
	default:
		v.Host = repack.Nowhere
	}
	if placed || v.Stays || q.want(vm) == cluster.VMRunning {
		v.Want = repack.Running
	}
	q.number[vm] = len(q.vms)
	q.vms = append(q.vms, vm)
	q.in.VMs = append(q.in.VMs, v)
}

// gangs has the VMs of each vjob act together.
func (q *repacking) gangs() {
	of := map[cluster.VJobID]int{}
	for i, vm := range q.vms {
		g, ok := of[vm.VJob]
		if !ok {
			g = len(q.in.Gangs)
			of[vm.VJob] = g
			q.in.Gangs = append(q.in.Gangs, nil)
		}
		q.in.Gangs[g] = append(q.in.Gangs[g], i)
	}
}

// rules translates the rules as far as they name VMs of the problem. VMs that are
// kept apart must not meet on their way either.
func (q *repacking) rules() bool {
	nodes := map[cluster.NodeID]int{}
	for i, n := range q.nodes {
		nodes[n.ID] = i
	}
	for _, r := range q.Rules {
		args := rule.Args{Instance: &q.in, Continuous: r.Kind == cluster.Spread, Values: map[string]any{}}
		var vms, on []int
		for _, vm := range r.VMs {
			if i, ok := q.number[vm]; ok {
				vms = append(vms, i)
			}
		}
		for _, id := range r.Nodes {
			if n, ok := nodes[id]; ok {
				on = append(on, n)
			}
		}
		if len(vms) == 0 || r.Kind == cluster.Ban && len(on) == 0 {
			continue
		}
		args.Values["vms"] = vms
		if r.Kind == cluster.Ban || r.Kind == cluster.Fence {
			args.Values["nodes"] = on
		}
		if !q.post(string(r.Kind), args, 0) {
			return false
		}
	}
	return true
}

// dread is what a VM on a draining node costs: more than any way to leave it.
const dread = 1 << 36

// drain keeps everybody off nodes that take nothing, but for those who are there:
// they leave if they can.
func (q *repacking) drain() {
	for n, node := range q.nodes {
		if node.State != cluster.Draining {
			continue
		}
		var there, others []int
		for i := range q.in.VMs {
			if v := &q.in.VMs[i]; v.State == repack.Running && v.Host == n {
				there = append(there, i)
			} else {
				others = append(others, i)
			}
		}
		q.keepOff(there, n, dread)
		q.keepOff(others, n, 0)
	}
}

func (q *repacking) keepOff(vms []int, node int, penalty int64) {
	if len(vms) > 0 {
		q.post("ban", rule.Args{Instance: &q.in, Values: map[string]any{"vms": vms, "nodes": []int{node}}}, penalty)
	}
}

func (q *repacking) post(name string, args rule.Args, penalty int64) bool {
	kind, err := rule.Find(name)
	if err != nil {
		return false
	}
	r, err := kind.New(args)
	if err != nil {
		return false
	}
	q.in.Rules = append(q.in.Rules, repack.Posted{Rule: r, Penalty: penalty})
	return true
}

// hosts is where a plan leaves the VMs that run at its end.
func (q *repacking) hosts(plan *repack.Plan) map[cluster.VMID]int {
	at := map[cluster.VMID]int{}
	t, _ := repack.Trace(&q.in, plan)
	for i, vm := range q.vms {
		if n, runs := t.Runs(i); runs {
			at[vm] = n
		}
	}
	return at
}
