package ctxswitch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/repack"
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

// infeasibleRounds bounds the search for a first plan: the vjob that asks for too much can wait,
// and others cannot.
const infeasibleRounds = 32

// vainRounds is how many rounds in a row may find nothing better. All [DefaultRounds] find plans that cost 0.3 % less on average.
const vainRounds = 32

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
	o := solve.Options{Seed: s.Seed, Iterations: r.Rounds, Despair: infeasibleRounds, Patience: vainRounds}
	if o.Iterations == 0 {
		o.Iterations = DefaultRounds
	}
	if r.Clock != nil {
		o.Stop = r.Clock()
	}
	result, err := solve.Solve(&q.in, o)
	why := "no plan keeps it" // used if a preferred rule is dropped
	if err == nil && result.Verdict != solve.Solved && q.dropPreferred() {
		if len(result.Why) > 0 {
			why = strings.Join(result.Why, "; ")
		}
		result, err = solve.Solve(&q.in, o)
	}
	if err == nil && result.Verdict != solve.Solved && !s.starts() && q.relax() {
		result, err = solve.Solve(&q.in, o)
	}
	switch {
	case err != nil:
		return Plan{}, s.refusal(err.Error())
	case result.Verdict != solve.Solved:
		return Plan{}, s.refusal(strings.Join(result.Why, "; "))
	}
	plan := q.assemble(result.Plan)
	plan.Leaves, plan.Dropped = q.broken(result.Plan, why)
	return plan, nil
}

// infeasibilityRounds is how many rounds of search are enough to call VMs without places.
const infeasibilityRounds = 4 * DefaultRounds

// Infeasible says why not all goals can be reached together, as far as a long search
// can tell; "" if they can.
func Infeasible(p Problem) string {
	s, err := newSurvey(p)
	if err != nil {
		return err.Error()
	}
	q, err := newRepacking(s)
	if err != nil {
		return err.Error()
	}
	q.in.Gangs = nil // whether they come together makes no difference
	q.dropPreferred()
	result, err := solve.Solve(&q.in, solve.Options{Seed: p.Seed, Iterations: infeasibilityRounds})
	switch {
	case err != nil:
		return err.Error()
	case result.Verdict == solve.Solved:
		return ""
	}
	return strings.Join(result.Why, "; ")
}

// refusal says which vjobs ask for too much: in order of priority, those for which there
// is no room beside those before them; or if there is room for each, the last, as it can
// wait.
func (s *survey) refusal(why string) *NoPlan {
	needs, fixed := map[cluster.VMID]cluster.Resources{}, map[cluster.VMID]bool{}
	for _, vm := range s.Current.VMs() {
		if s.fixed.has(vm) {
			fixed[vm] = true
		}
		if fixed[vm] || s.want(vm) == cluster.VMRunning {
			needs[vm] = s.count(vm)
		}
	}
	room := NewPacking(PackingInput{Current: s.Current, Nodes: s.Nodes, Rules: s.Rules, Avoid: s.Avoid, Incompatible: s.Incompatible, Claims: s.Claims, Pinned: fixed, Needs: needs, Feeds: s.Feeds})
	var last cluster.VJobID
	var refused []*NoPlan
	for _, g := range s.Gangs {
		if g.Want != cluster.VMRunning || len(s.members[g.VJob]) == 0 {
			continue
		}
		last = g.VJob
		if ok, short := room.Take(g.VJob); !ok {
			refused = append(refused, &NoPlan{VJob: g.VJob, Reason: fmt.Sprintf("vjob %s: no place for its VMs: %s", g.VJob, short)})
		}
	}
	if len(refused) > 0 {
		refused[0].Also = refused[1:]
		return refused[0]
	}
	if last == 0 && len(s.Gangs) > 0 {
		last = s.Gangs[len(s.Gangs)-1].VJob
	}
	return &NoPlan{VJob: last, Reason: fmt.Sprintf("vjob %s: %s", last, why), Unclear: true}
}

// repacking is a survey as the problem of the bin repacking paper.
type repacking struct {
	*survey
	*instanceBuilder
	unsuspendable map[cluster.VJobID]bool // vjobs that cannot be suspended as a whole
	ends          []int                   // VMs of which there is an image only, and that are to end
}

// newRepacking translates a survey. The error is something that an instance cannot
// say, such as a VM that runs on an unknown node.
func newRepacking(s *survey) (*repacking, error) {
	q := &repacking{survey: s, instanceBuilder: newInstanceBuilder(s.Current, s.Nodes.or(s.Current), s.Claims, 0), unsuspendable: map[cluster.VJobID]bool{}}
	placed := vmSet{}
	for _, vm := range s.placed {
		placed.add(vm)
	}
	maps.Copy(q.unsuspendable, s.Unsavable)
	for vm, is := range s.Current.All() {
		if is.State == cluster.VMWaiting && !placed.has(vm) {
			q.unsuspendable[vm.VJob] = true
		}
	}
	for vm, is := range s.Current.All() {
		if !placed.has(vm) && !onNode(is.State) && !s.toClear(vm) {
			continue
		}
		host := q.indexOf(is.Node)
		if host == repack.Nowhere && onNode(is.State) {
			return nil, fmt.Errorf("VM %s is on unknown node %s", vm, is.Node)
		}
		q.add(vm, host, placed.has(vm))
	}
	q.widen()
	q.gangs()
	q.postNetwork(s.Network)
	q.postTransfers(&s.Transfers)
	if err := errors.Join(q.rules(s.Rules), q.excludeIncompatible(s.Incompatible), q.avoid(s.Avoid), q.closeNodes(), q.postPlaces(s.Places)); err != nil {
		return nil, err
	}
	q.postFeeds(s.Feeds)
	return q, nil
}

// toClear reports whether all there is of a VM is an image, which is to go.
func (s *survey) toClear(vm cluster.VMID) bool {
	state, _ := s.Current.State(vm)
	return state == cluster.VMSleeping && !s.Pinned[vm] && s.want(vm) == cluster.VMTerminated
}

// add adds a VM with the durations of its actions. The search knows one duration of each kind: where
// the node on which a VM arrives is still open, that is the median of the nodes, so that of two
// free nodes the search does not prefer the faster one. The times of the plan are those of the
// nodes that were found, see [planBuilder.duration].
func (q *repacking) add(vm cluster.VMID, host int, placed bool) {
	need, costs := q.count(vm), &q.Costs
	demand := q.demand(need)
	place := q.Current.Place(vm)
	takes := func(kind cluster.ActionKind, from, to cluster.NodeID) repack.Ticks {
		return max(1, repack.Ticks(costs.Duration(kind, need.Memory, from, to)/time.Millisecond))
	}
	v := repack.VM{
		Name: vm.String(), Host: host, Weight: 1, Now: demand, Next: demand,
		Takes: repack.Durations{
			Boot: takes(cluster.Boot, "", ""), Shutdown: takes(cluster.Stop, place, ""), Suspend: takes(cluster.Suspend, place, ""),
			ResumeLocal: takes(cluster.Resume, place, place), ResumeRemote: takes(cluster.Resume, cmp.Or(place, "?"), ""), Migrate: takes(cluster.Migrate, place, ""),
		},
		Sleepable: !q.unsuspendable[vm.VJob], Paused: q.rigid[vm.VJob], Stays: q.fixed.has(vm) || q.Pinned[vm],
	}
	switch state, _ := q.Current.State(vm); state {
	case cluster.VMRunning, cluster.VMPaused:
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
	if !placed && !q.onNode(vm) {
		v.State = repack.Ready
		q.ends = append(q.ends, len(q.vms))
	}
	q.addVM(vm, v)
}
