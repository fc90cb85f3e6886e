package decide

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
)

// Placement is one way to start a vjob: all its VMs together ("VMware Distributed Resource Management", 2012,
// §3.2).
type Placement struct {
	Nodes   []cluster.NodeID // of the VMs, by rank
	Plan    ctxswitch.Plan   // with the moves of other VMs that it needs first
	PowerOn []cluster.NodeID // nodes that have to be switched on first
	Moves   int              // of other VMs
	Before  Balance
	After   Balance
	// Watts is how much more the nodes draw after it; it counts only if WattsKnown.
	Watts      energy.Watts
	WattsKnown bool
}

// Balance is how evenly the nodes that take VMs are used: the standard deviations of the used fractions
// of CPU and memory.
type Balance struct{ CPU, Memory float64 }

// mean weighs both alike.
func (b Balance) mean() float64 { return (b.CPU + b.Memory) / 2 }

// Refusal says why a node takes no VM of a vjob.
type Refusal struct {
	Node cluster.NodeID
	Why  string
}

// maxPlacementNodes bounds the nodes on which a placement is searched: those with most free CPU.
const maxPlacementNodes = 64

// placementRounds is the effort of each of these searches.
const placementRounds = 32

// Placements returns at most so many placements of a waiting or suspended vjob, the best first, and the
// nodes that take none of its VMs. Placements that break no rule come first, then those that move the
// fewest other VMs; equal ones are in order of balance, then of watts. Only without any placement, nodes
// of standby come on, one after the other. A vjob that is not [View.Placeable] has no placement. The
// variant must not be used afterwards.
func (w *Variant) Placements(id cluster.VJobID, most int, standby []cluster.NodeID) ([]Placement, []Refusal) {
	if w.Placeable(id) != nil {
		return nil, nil
	}
	i := w.index(id)
	s := w.newPlacementSearch(i)
	s.search()
	for _, node := range standby {
		if len(s.found) > 0 {
			break
		}
		if w.SetNodeState(node, cluster.Online) != nil {
			continue
		}
		delete(w.supply.Off, node)
		on := append(slices.Clip(s.powerOn), node)
		s = w.newPlacementSearch(i)
		s.powerOn = on
		s.search()
	}
	slices.SortStableFunc(s.found, comparePlacements)
	return s.found[:min(most, len(s.found))], s.refusals()
}

// index returns the index of a vjob in the view, or -1.
func (v *View) index(id cluster.VJobID) int {
	return slices.IndexFunc(v.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
}

// Placeable returns nil for a vjob that waits or is suspended and is not inside a container. An
// unknown vjob is ErrNotFound.
func (v *View) Placeable(id cluster.VJobID) error {
	i := v.index(id)
	if i < 0 {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	if r := &v.VJobs[i]; !r.Job.State.Ready() || r.Busy() || r.Job.State == cluster.Paused || v.quarantined[id] != "" {
		return cluster.Fault("place", "vjob %s %s: only vjobs that wait or are suspended have placements", id, r.Job.State.Clause())
	}
	return nil
}

// comparePlacements sorts the better placement first.
func comparePlacements(a, b Placement) int {
	broken := func(p *Placement) int { return len(p.Plan.Leaves) + len(p.Plan.Dropped) }
	return cmp.Or(cmp.Compare(broken(&a), broken(&b)), cmp.Compare(len(a.PowerOn), len(b.PowerOn)), cmp.Compare(a.Moves, b.Moves),
		cmp.Compare(round(a.After.mean()), round(b.After.mean())), cmp.Compare(a.Watts, b.Watts), slices.Compare(a.Nodes, b.Nodes))
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// placementSearch searches placements of one vjob.
type placementSearch struct {
	*attempt
	problem ctxswitch.Problem
	vms     []cluster.VMID
	powerOn []cluster.NodeID
	found   []Placement
	failed  map[cluster.NodeID]string // why the planner finds no placement with a VM on the node
}

func (w *Variant) newPlacementSearch(i int) *placementSearch {
	verdicts := make([]queue.Verdict, len(w.VJobs))
	for k, r := range w.VJobs {
		if k == i || r.Job.State == cluster.Running {
			verdicts[k].Target = queue.Run
		}
	}
	s := &placementSearch{attempt: w.newAttempt(nil), failed: map[cluster.NodeID]string{}}
	s.addStarters(verdicts)
	goals, _ := s.goals(verdicts)
	s.problem = s.attempt.problem(goals)
	for k := range w.VJobs[i].Job.VMs {
		s.vms = append(s.vms, w.VJobs[i].Job.VMs[k].ID)
	}
	return s
}

// search looks for the best placement on each node.
func (s *placementSearch) search() {
	seen := map[string]bool{}
	for _, node := range s.candidates() {
		p, why := s.place(node)
		if why != "" {
			s.failed[node] = why
			continue
		}
		if key := s.key(&p); !seen[key] {
			seen[key] = true
			s.found = append(s.found, p)
		}
	}
}

// key is equal for placements that differ only in which of several equal VMs is where.
func (s *placementSearch) key(p *Placement) string {
	parts := make([]string, len(s.vms))
	for i, vm := range s.vms {
		parts[i] = fmt.Sprintf("%s@%s", s.problem.Current.Need(vm), p.Nodes[i])
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// candidates returns the nodes that may take the first VM, those with most free CPU.
func (s *placementSearch) candidates() (list []cluster.NodeID) {
	nodes := slices.DeleteFunc(slices.Clone(s.problem.Current.Nodes()), func(n cluster.Node) bool { return !n.Hosts() })
	free := func(n *cluster.Node) cluster.MilliCPU { return n.Capacity.CPU - s.problem.Current.Used(n.ID).CPU }
	slices.SortStableFunc(nodes, func(a, b cluster.Node) int { return cmp.Compare(free(&b), free(&a)) })
	for _, n := range nodes[:min(len(nodes), maxPlacementNodes)] {
		list = append(list, n.ID)
	}
	return list
}

// place returns the best placement with the first VM on a node, or why none is found. Other VMs
// stay where they are if that is possible.
func (s *placementSearch) place(node cluster.NodeID) (Placement, string) {
	problem := s.problem
	problem.Places = map[cluster.VMID]cluster.NodeID{s.vms[0]: node}
	problem.Pinned = maps.Clone(s.problem.Pinned)
	for _, vm := range problem.Current.VMs() {
		if _, runs := problem.Current.Host(vm); runs {
			problem.Pinned[vm] = true
		}
	}
	plan, err := planSafely(problem)
	if err != nil {
		problem.Pinned = s.problem.Pinned
		plan, err = planSafely(problem)
	}
	if err != nil {
		return Placement{}, strings.TrimPrefix(err.Error(), "no plan: ")
	}
	p := Placement{Plan: plan, PowerOn: s.powerOn, Before: s.balance(problem.Current), After: s.balance(plan.Target)}
	for _, vm := range s.vms {
		p.Nodes = append(p.Nodes, plan.Target.Place(vm))
	}
	for _, a := range plan.Actions {
		if a.VM.VJob != s.vms[0].VJob {
			p.Moves++
		}
	}
	before, after := s.watts(problem.Current), s.watts(plan.Target)
	p.Watts, p.WattsKnown = after-before, s.supply.Known()
	return p, ""
}

// planSafely returns an error instead of a panic.
func planSafely(p ctxswitch.Problem) (plan ctxswitch.Plan, err error) {
	if !withoutPanic(func() { plan, err = ctxswitch.Repacker{Rounds: placementRounds}.Plan(p) }) {
		err = errors.New("no decision can be taken with some vjobs")
	}
	return plan, err
}

// balance returns how evenly the nodes are used.
func (s *placementSearch) balance(c *cluster.Configuration) Balance {
	var cpu, memory []float64
	for _, n := range c.Nodes() {
		if !n.Hosts() || n.Capacity.CPU <= 0 || n.Capacity.Memory <= 0 {
			continue
		}
		used := c.Used(n.ID)
		cpu = append(cpu, float64(used.CPU)/float64(n.Capacity.CPU))
		memory = append(memory, float64(used.Memory)/float64(n.Capacity.Memory))
	}
	return Balance{deviation(cpu), deviation(memory)}
}

// deviation is the standard deviation of all values.
func deviation(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	var mean, sum float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// watts returns what the nodes with a power model draw while their VMs use what they count for.
func (s *placementSearch) watts(c *cluster.Configuration) (sum energy.Watts) {
	for _, n := range c.Nodes() {
		power, known := s.supply.Models[n.ID]
		if known && n.Hosts() && n.Capacity.CPU > 0 {
			sum += power.At(float64(c.Used(n.ID).CPU) / float64(n.Capacity.CPU))
		}
	}
	return sum
}

// refusals returns the nodes that take none of the VMs, with the reasons.
func (s *placementSearch) refusals() (list []Refusal) {
	used := map[cluster.NodeID]bool{}
	for i := range s.found {
		for _, n := range s.found[i].Nodes {
			used[n] = true
		}
	}
	allowed, err := ctxswitch.NewAllowedNodes(s.problem)
	for _, n := range s.problem.Current.Nodes() {
		if used[n.ID] {
			continue
		}
		if why := s.refusal(&n, allowed, err); why != "" {
			list = append(list, Refusal{n.ID, why})
		}
	}
	return list
}

// refusal returns why a node takes no VM; "" if nothing keeps them off.
func (s *placementSearch) refusal(n *cluster.Node, allowed *ctxswitch.AllowedNodes, fault error) string {
	incompatible := func(vm cluster.VMID) bool { return slices.Contains(s.problem.Incompatible[vm], n.ID) }
	banned := func(vm cluster.VMID) bool { return !allowed.Allows(vm, n.ID) }
	free := n.Capacity.Minus(s.problem.Claims[n.ID]).Minus(s.problem.Current.Used(n.ID))
	least := s.problem.Current.Need(s.vms[0])
	for _, vm := range s.vms {
		if need := s.problem.Current.Need(vm); need.CPU < least.CPU {
			least = need
		}
	}
	short := free.CPU < least.CPU || free.Memory < least.Memory
	switch {
	case !n.Hosts():
		return "is " + n.State.String()
	case every(s.vms, incompatible):
		return compatibility{s.View}.text(s.vms[0], []cluster.NodeID{n.ID})
	case fault == nil && every(s.vms, banned):
		return "placement rules keep its VMs off"
	case short && s.failed[n.ID] != "":
		return fmt.Sprintf("a VM needs %s, and %s are free, even if other VMs move", least, free)
	case short:
		return fmt.Sprintf("a VM needs %s, and %s are free", least, free)
	default:
		return s.failed[n.ID]
	}
}

func every(vms []cluster.VMID, has func(cluster.VMID) bool) bool {
	return !slices.ContainsFunc(vms, func(vm cluster.VMID) bool { return !has(vm) })
}
