package ctxswitch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
)

// Repacker is the planner that looks for the cheapest context switch: where VMs go
// and when is the bin repacking scheduling problem, with gangs, see [solve.Solve].
// It is a value without state.
type Repacker struct {
	// Rounds bounds the improvement of a first plan; 0 is [DefaultRounds].
	Rounds int
	// Clock gives each search its Stop, to end it before its rounds are used up;
	// nil: the rounds alone decide, and so the same problem gives the same plan.
	Clock func() (stop func() bool)
}

// DefaultRounds is a few hundredths of a second of improvement.
const DefaultRounds = 256

var _ Planner = Repacker{}

// Plan returns the cheapest plan found. The error is a *[NoPlan].
func (r Repacker) Plan(p Problem) (Plan, error) {
	s, err := newSurvey(p)
	if err != nil {
		return Plan{}, err
	}
	q, err := newRepacking(s)
	if err != nil {
		return Plan{}, s.refusal(err.Error())
	}
	o := solve.Options{Seed: s.Seed, Iterations: r.Rounds}
	if o.Iterations == 0 {
		o.Iterations = DefaultRounds
	}
	if r.Clock != nil {
		o.Stop = r.Clock()
	}
	result, err := solve.Solve(&q.in, o)
	switch {
	case err != nil:
		return Plan{}, s.refusal(err.Error())
	case result.Verdict != solve.Solved:
		return Plan{}, s.refusal(strings.Join(result.Why, "; "))
	}
	return q.assemble(result.Plan), nil
}

// refusal says which vjob asks for one too many: in order of priority, the first
// for which there is no room beside those before it; or if there is room for each,
// the last, as it can wait.
func (s *survey) refusal(why string) *NoPlan {
	needs := map[cluster.VMID]cluster.Resources{}
	for _, vm := range s.Current.VMs() {
		if s.fixed[vm] || s.want(vm) == cluster.VMRunning {
			needs[vm] = s.count(vm)
		}
	}
	room := NewPacking(Stock{Current: s.Current, Rules: s.Rules, Claims: s.Claims, Pinned: s.fixed, Needs: needs})
	var last cluster.VJobID
	for _, g := range s.Gangs {
		if g.Want != cluster.VMRunning || len(s.staff[g.VJob]) == 0 {
			continue
		}
		last = g.VJob
		if ok, short := room.Take(g.VJob); !ok {
			return &NoPlan{VJob: g.VJob, Reason: fmt.Sprintf("vjob %s: no place for its VMs: %s", g.VJob, short)}
		}
	}
	if last == 0 && len(s.Gangs) > 0 {
		last = s.Gangs[len(s.Gangs)-1].VJob
	}
	return &NoPlan{VJob: last, Reason: fmt.Sprintf("vjob %s: %s", last, why)}
}

// repacking is a survey as the problem of the bin repacking paper: VMs and nodes
// have numbers, times are milliseconds.
type repacking struct {
	*survey
	in       repack.Instance
	number   map[cluster.VMID]int
	vms      []cluster.VMID
	restless map[cluster.VJobID]bool // vjobs that cannot be suspended as a whole
	ends     []int                   // VMs of which there is an image only, and that are to end
}

// newRepacking translates a survey. The error is something that an instance cannot
// say, such as a VM that runs on a node nobody knows.
func newRepacking(s *survey) (*repacking, error) {
	q := &repacking{survey: s, number: map[cluster.VMID]int{}, restless: map[cluster.VJobID]bool{}}
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
		if state, _ := s.Current.State(vm); state == cluster.VMWaiting && !placed[vm] {
			q.restless[vm.VJob] = true
		}
	}
	for _, vm := range s.Current.VMs() {
		host, known := where[s.Current.Place(vm)]
		if !placed[vm] && !s.runs(vm) && !s.toClear(vm) {
			continue
		}
		if !known {
			host = repack.Nowhere
		}
		if host == repack.Nowhere && s.runs(vm) {
			return nil, fmt.Errorf("VM %s runs on node %s, which nobody knows", vm, s.Current.Place(vm))
		}
		q.add(vm, host, placed[vm])
	}
	q.widen()
	q.gangs()
	if err := q.rules(); err != nil {
		return nil, err
	}
	if err := q.drain(); err != nil {
		return nil, err
	}
	return q, nil
}

// toClear reports whether all there is of a VM is an image, which is to go.
func (s *survey) toClear(vm cluster.VMID) bool {
	state, _ := s.Current.State(vm)
	return state == cluster.VMSleeping && !s.Pinned[vm] && s.want(vm) == cluster.VMTerminated
}

// node is a node with the room that claims leave. One that takes nothing any more
// is on for those who are still there; see [repacking.drain].
func (q *repacking) node(n cluster.Node) repack.Node {
	free := n.Capacity.Minus(q.Claims[n.ID])
	node := repack.Node{Name: string(n.ID), Capacity: []int64{max(0, int64(free.CPU)), max(0, int64(free.Memory))}}
	if (n.State == cluster.Offline || n.State == cluster.Down) && len(q.Current.On(n.ID)) == 0 {
		node.Want = repack.Offline
	}
	return node
}

func (q *repacking) add(vm cluster.VMID, host int, placed bool) {
	need, costs := q.count(vm), &q.Costs
	takes := func(kind cluster.ActionKind, remote bool) repack.Ticks {
		return max(1, repack.Ticks(costs.Duration(kind, need.Memory, remote)/time.Millisecond))
	}
	v := repack.VM{
		Name: vm.String(), Host: host, Weight: 1,
		Now: []int64{int64(need.CPU), int64(need.Memory)}, Next: []int64{int64(need.CPU), int64(need.Memory)},
		Takes: repack.Durations{
			Boot: takes(cluster.Boot, false), Shutdown: takes(cluster.Stop, false), Suspend: takes(cluster.Suspend, false),
			ResumeLocal: takes(cluster.Resume, false), ResumeRemote: takes(cluster.Resume, true), Migrate: takes(cluster.Migrate, false),
		},
		Sleepable: !q.restless[vm.VJob], Paused: q.rigid[vm.VJob], Stays: q.fixed[vm] || q.Pinned[vm],
	}
	switch state, _ := q.Current.State(vm); state {
	case cluster.VMRunning:
		v.State = repack.Running
	case cluster.VMSleeping:
		v.State = repack.Sleeping
	default:
		v.Host = repack.Nowhere
	}
	switch {
	case placed || v.Stays && v.State == repack.Running:
		v.Want = repack.Running
	case v.State == repack.Running && q.want(vm) == cluster.VMSleeping:
		v.Want = repack.Sleeping
	}
	if !placed && !q.runs(vm) {
		v.State = repack.Ready
		q.ends = append(q.ends, len(q.vms))
	}
	q.number[vm] = len(q.vms)
	q.vms = append(q.vms, vm)
	q.in.VMs = append(q.in.VMs, v)
}

// widen has the capacity of a node be no less than what VMs take that are not to
// be touched: they stay there, whether there is room or not, and for others there
// is none.
func (q *repacking) widen() {
	sums := make([][2]int64, len(q.in.Nodes))
	for i := range q.in.VMs {
		if v := &q.in.VMs[i]; v.Stays && v.State == repack.Running {
			sums[v.Host][0] += v.Next[0]
			sums[v.Host][1] += v.Next[1]
		}
	}
	for n := range sums {
		for d := range sums[n] {
			q.in.Nodes[n].Capacity[d] = max(q.in.Nodes[n].Capacity[d], sums[n][d])
		}
	}
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
func (q *repacking) rules() error {
	nodes := map[cluster.NodeID]int{}
	for i, n := range q.nodes {
		nodes[n.ID] = i
	}
	for _, r := range q.Rules {
		args := rule.Args{Instance: &q.in, Continuous: r.Kind != cluster.Gather, Values: map[string]any{}}
		var vms, on []int
		for _, vm := range r.VMs {
			if i, ok := q.number[vm]; ok && q.counts(r.Kind, i, vms) {
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
		if r.Kind == cluster.Gather {
			torn, concerns := q.torn(vms)
			if torn && concerns {
				return fmt.Errorf("%s cannot hold: some of the VMs are on different nodes and not to be touched", r)
			}
			if torn {
				continue
			}
		}
		args.Values["vms"] = vms
		if r.Kind == cluster.Ban || r.Kind == cluster.Fence {
			args.Values["nodes"] = on
		}
		if err := q.post(string(r.Kind), args, 0); err != nil {
			return err
		}
	}
	return nil
}

// counts reports whether a rule says anything about a VM: what is not to be
// touched may break it by itself, and is in the way of others only.
func (q *repacking) counts(kind cluster.RuleKind, i int, before []int) bool {
	v := &q.in.VMs[i]
	switch {
	case !v.Stays:
		return true
	case kind == cluster.Spread:
		return !slices.ContainsFunc(before, func(j int) bool { return q.in.VMs[j].Stays && q.in.VMs[j].Host == v.Host })
	default:
		return kind == cluster.Gather
	}
}

// torn reports whether VMs that are to be gathered run on several nodes and are not
// to be touched. If nobody else is concerned, that is how it is.
func (q *repacking) torn(vms []int) (torn, concerns bool) {
	host := repack.Nowhere
	for _, i := range vms {
		v := &q.in.VMs[i]
		concerns = concerns || !v.Stays
		if v.Stays {
			torn = torn || host != repack.Nowhere && host != v.Host
			host = v.Host
		}
	}
	return torn, concerns
}

// dread is what a VM on a draining node costs: more than any way to leave it.
const dread = 1 << 36

// drain keeps everybody off nodes that take nothing, but for those who are there:
// they leave if they can.
func (q *repacking) drain() error {
	for n, node := range q.nodes {
		if node.State == cluster.Online {
			continue
		}
		dread := int64(dread)
		if node.State != cluster.Draining {
			dread = 0 // nobody may stay
		}
		var there, others []int
		for i := range q.in.VMs {
			switch v := &q.in.VMs[i]; {
			case v.Stays:
			case v.State == repack.Running && v.Host == n:
				there = append(there, i)
			default:
				others = append(others, i)
			}
		}
		if err := errors.Join(q.keepOff(there, n, dread), q.keepOff(others, n, 0)); err != nil {
			return err
		}
	}
	return nil
}

func (q *repacking) keepOff(vms []int, node int, penalty int64) error {
	if len(vms) == 0 {
		return nil
	}
	args := rule.Args{Instance: &q.in, Continuous: penalty == 0, Values: map[string]any{"vms": vms, "nodes": []int{node}}}
	return q.post("ban", args, penalty)
}

func (q *repacking) post(name string, args rule.Args, penalty int64) error {
	kind, err := rule.Find(name)
	if err != nil {
		return err
	}
	r, err := kind.New(args)
	if err != nil {
		return err
	}
	q.in.Rules = append(q.in.Rules, repack.Posted{Rule: r, Penalty: penalty})
	return nil
}
