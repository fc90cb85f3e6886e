package repack

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/internal/sparse"
)

// Report is the verdict on a plan.
type Report struct {
	Faults  []string // what is wrong, hard rules included; none: the plan is right
	Broken  []string // breaches of soft rules
	Figures Figures
}

// Valid reports whether the plan can be carried out and leads where it should.
func (r *Report) Valid() bool { return len(r.Faults) == 0 }

// Check follows a plan and says what is wrong with it, however it was made:
//
//   - each action starts from where its VM is, lasts long enough, and follows the
//     VM's others;
//   - every VM and every node ends in the state asked for, and nothing is done to
//     VMs that stay;
//   - at every instant and in every dimension, what the VMs on a node occupy is
//     within its capacity, equation (1) of the paper: a VM that migrates counts on
//     both ends, one that stays changes its demand at its Allocate, or without one
//     at once if nothing grows and at the makespan otherwise;
//   - at every instant, the rates of the transfers on a link are within its bandwidth, and
//     no node carries more transfers than it may;
//   - a node that is switched off is empty by then, one that is switched on is so
//     before anything comes;
//   - the actions that one waits for have ended before it starts;
//   - gangs act together, and every rule holds.
//
// A node that is over capacity before anything happens is not the plan's fault as
// long as it only comes down until it is relieved: its load never rises above what
// it has come down to. The error is an instance that contradicts itself.
func Check(in *Instance, plan *Plan) (*Report, error) {
	in, err := in.Amended()
	if err != nil {
		return nil, err
	}
	t, faults := Trace(in, plan)
	c := checker{Timeline: t, report: &Report{Faults: faults, Figures: t.figures()}}
	c.ends()
	c.switches()
	c.room()
	c.links()
	c.transfers()
	c.order()
	c.together()
	c.rules()
	return c.report, nil
}

// Measure returns the figures of a plan, and looks for no faults in it. The error is that of [Check].
func Measure(in *Instance, plan *Plan) (Figures, error) {
	in, err := in.Amended()
	if err != nil {
		return Figures{}, err
	}
	t, _ := Trace(in, plan)
	c := checker{Timeline: t, report: &Report{Figures: t.figures()}}
	c.rules() // what is broken of the soft ones is a figure
	return c.report.Figures, nil
}

type checker struct {
	*Timeline
	report *Report
}

func (c *checker) fault(format string, args ...any) {
	c.report.Faults = append(c.report.Faults, fmt.Sprintf(format, args...))
}

// ends checks the wanted states.
func (c *checker) ends() {
	for vm := range c.Instance.VMs {
		if want := c.Instance.VMs[vm].Want; c.State[vm] != want {
			c.fault("%s ends %s, must be %s", c.Instance.VMName(vm), c.State[vm], want)
		}
		if c.Instance.VMs[vm].Stays && len(c.ByVM[vm]) > 0 {
			c.fault("%s is to stay as it is", c.Instance.VMName(vm))
		}
		if c.State[vm] == Sleeping && c.Nodes[c.Host[vm]] == Offline {
			c.fault("%s sleeps on %s, which ends offline", c.Instance.VMName(vm), c.Instance.NodeName(c.Host[vm]))
		}
	}
	for n := range c.Instance.Nodes {
		if want := c.Instance.Nodes[n].Want; want != AnyState && c.Nodes[n] != want {
			c.fault("%s ends %s, must be %s", c.Instance.NodeName(n), c.Nodes[n], want)
		}
	}
}

// window is when a node is on.
func (c *checker) window(n int) (up, down Ticks) {
	up, down = 0, Forever
	if c.Instance.Nodes[n].State == Offline {
		up = Forever
	}
	if i := c.On[n]; i != Nowhere {
		up = c.Plan.Actions[i].End
	}
	if i := c.Off[n]; i != Nowhere {
		down = c.Plan.Actions[i].Start
	}
	return up, down
}

// switches checks that nothing is on a node that is not on.
func (c *checker) switches() {
	for _, stays := range c.Stays {
		for _, s := range stays {
			up, down := c.window(s.Node)
			if s.From < up {
				c.fault("%s is on %s at %d, before that is online", c.Instance.VMName(s.VM), c.Instance.NodeName(s.Node), s.From)
			}
			if s.To > down {
				c.fault("%s is on %s after %d, when that goes offline", c.Instance.VMName(s.VM), c.Instance.NodeName(s.Node), down)
			}
		}
	}
	for i := range c.Plan.Actions {
		a := &c.Plan.Actions[i]
		if a.Kind != Resume || a.From < 0 || a.From >= len(c.Nodes) {
			continue
		}
		if _, down := c.window(a.From); down < a.End {
			c.fault("%s is resumed from %s after that starts to go offline", c.Instance.VMName(a.VM), c.Instance.NodeName(a.From))
		}
	}
}

// change is a step in the load of a node.
type change struct {
	at   Ticks
	need []int64
	sign int64
}

// room checks equation (1).
func (c *checker) room() {
	in, loads := c.Instance, c.Instance.loads()
	for n, steps := range c.changes().All() {
		most := slices.Clone(in.Nodes[n].Capacity)
		for d, load := range loads.At(n) {
			most[d] = max(most[d], load)
		}
		slices.SortStableFunc(steps, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		c.profile(n, steps, most)
	}
}

// changes returns the changes in the load of each node, in the order of their VMs. They are counted first: of a million VMs,
// lists that grow would be copied for longer than the plan is followed.
func (c *checker) changes() sparse.Lists[change] {
	counts, total := make([]int, len(c.Instance.Nodes)), 0
	for _, stays := range c.Stays {
		for i := range stays {
			counts[stays[i].Node] += 2
			total += 2
		}
	}
	all, lists := make([]change, total), sparse.New[change](len(counts))
	for n, k := range counts {
		if k > 0 {
			*lists.Ref(n), all = all[:0:k], all[k:]
		}
	}
	for _, stays := range c.Stays {
		for i := range stays {
			s := &stays[i]
			lists.Add(s.Node, change{s.From, s.Need, 1})
			if s.To < Forever {
				lists.Add(s.Node, change{s.To, s.Need, -1})
			}
		}
	}
	return lists
}

// profile follows the load of one node. Most is what it may be: its capacity, or
// if it is over that from the start what it has come down to.
func (c *checker) profile(n int, steps []change, most []int64) {
	in := c.Instance
	load := make([]int64, len(in.Dims))
	for k := 0; k < len(steps); {
		at := steps[k].at
		for ; k < len(steps) && steps[k].at == at; k++ {
			for d, need := range steps[k].need {
				load[d] += steps[k].sign * need
			}
		}
		for d, capacity := range in.Nodes[n].Capacity {
			if load[d] > most[d] {
				c.fault("%s is over capacity at %d: %s %d of %d", in.NodeName(n), at, in.Dims[d], load[d], capacity)
			}
			most[d] = max(capacity, min(most[d], load[d]))
		}
	}
	for d, capacity := range in.Nodes[n].Capacity {
		if load[d] > capacity && most[d] > capacity {
			c.fault("%s stays over capacity: %s %d of %d", in.NodeName(n), in.Dims[d], load[d], capacity)
		}
	}
}

// loads is what the VMs on each node occupy before the plan begins, by dimension; nothing for nodes without VMs.
func (in *Instance) loads() sparse.Lists[int64] {
	loads, dims := sparse.New[int64](len(in.Nodes)), len(in.Dims)
	var memory []int64 // of the next nodes: one piece for many
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if v.State != Running {
			continue
		}
		load := loads.Ref(v.Host)
		if *load == nil {
			if len(memory) < dims {
				memory = make([]int64, 64*dims)
			}
			*load, memory = memory[:dims:dims], memory[dims:]
		}
		for d, need := range v.Now {
			(*load)[d] += need
		}
	}
	return loads
}

// Overloaded are the nodes that are over capacity before the plan begins.
func (in *Instance) Overloaded() (nodes []int) {
	for n, load := range in.loads().All() {
		if slices.ContainsFunc(in.dims(), func(d int) bool { return load[d] > in.Nodes[n].Capacity[d] }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// dims numbers the dimensions.
func (in *Instance) dims() []int {
	list := make([]int, len(in.Dims))
	for d := range list {
		list[d] = d
	}
	return list
}

// links checks that no link carries more than its bandwidth.
func (c *checker) links() {
	in := c.Instance
	var transfers []*Action
	for _, list := range c.ByVM {
		for _, i := range list {
			a := &c.Plan.Actions[i]
			if a.Kind != Migrate && a.Kind != Resume {
				continue
			}
			if a.Rate < 0 {
				c.fault("%s: %s at a rate of %d", in.VMName(a.VM), a.Kind, a.Rate)
			}
			transfers = append(transfers, a)
		}
	}
	for l, flows := range in.Carried(transfers) {
		for _, f := range flows {
			if bandwidth := in.Bandwidth(Link(l)); f.Rate > bandwidth {
				c.fault("%s carries %d of %d at %d", in.LinkName(Link(l)), f.Rate, bandwidth, f.At)
			}
		}
	}
}

// transfers checks that no node carries more transfers at once than its limit.
func (c *checker) transfers() {
	if !c.Instance.LimitsTransfers() {
		return
	}
	changes := sparse.New[slotChange](len(c.Instance.Nodes))
	for _, list := range c.ByVM {
		for _, i := range list {
			a := &c.Plan.Actions[i]
			for _, n := range a.Kind.TransferNodes(a.From, a.To) {
				if n >= 0 && n < len(c.Instance.Nodes) && c.Instance.Nodes[n].Transfers > 0 {
					from, to := c.transferring(i)
					changes.Add(n, slotChange{from, 1})
					changes.Add(n, slotChange{to, -1})
				}
			}
		}
	}
	for n, list := range changes.All() { // before the plan no node carries more than its limit
		for _, until := range c.Instance.Nodes[n].Busy {
			list = append(list, slotChange{0, 1}, slotChange{until, -1})
		}
		slices.SortFunc(list, slotChange.compare) // ends before starts
		taken, limit := 0, c.Instance.Nodes[n].Transfers
		for _, change := range list {
			if taken += change.by; taken > limit && change.by > 0 {
				c.fault("%s carries %d transfers at %d, its limit is %d", c.Instance.NodeName(n), taken, change.at, limit)
			}
		}
	}
}

// order checks that what an action waits for ends before it starts.
func (c *checker) order() {
	for i := range c.Plan.Actions {
		a := &c.Plan.Actions[i]
		for _, j := range a.After {
			switch {
			case j < 0 || j >= len(c.Plan.Actions):
				c.fault("action %d waits for action %d, which does not exist", i, j)
			case c.Plan.Actions[j].End > a.Start:
				c.fault("action %d starts at %d, before action %d, which it waits for, has ended", i, a.Start, j)
			case c.Plan.Actions[j].Start == a.Start && c.waits(j, i, map[int]bool{}):
				c.fault("action %d waits for itself", i)
			}
		}
	}
}

// waits reports whether one action waits for another, through others perhaps. That
// can be a circle only among actions that take no time and start at one instant.
func (c *checker) waits(i, goal int, seen map[int]bool) bool {
	if seen[i] {
		return false
	}
	seen[i] = true
	a := &c.Plan.Actions[i]
	return slices.ContainsFunc(a.After, func(j int) bool {
		return j == goal || j >= 0 && j < len(c.Plan.Actions) && c.Plan.Actions[j].Start == a.Start && c.waits(j, goal, seen)
	})
}

// together checks that the suspends of a gang start at one instant, its resumes
// too, and that moves while it is paused start together or follow each other.
func (c *checker) together() {
	for g, vms := range c.Instance.Gangs {
		first := map[Kind]*Action{}
		c.eachTogether(vms, func(i int) {
			a := &c.Plan.Actions[i]
			b, ok := first[a.Kind]
			if !ok {
				first[a.Kind] = a
				return
			}
			apart := a.Kind == Migrate && (a.Start >= b.End || b.Start >= a.End)
			if a.Start != b.Start && !apart {
				c.fault("gang %d: one %s starts at %d, another at %d", g, a.Kind, b.Start, a.Start)
			}
		})
	}
}

func (c *checker) rules() {
	for _, r := range c.Instance.Rules {
		for _, b := range r.Check(c.Timeline) {
			text := fmt.Sprintf("%s: %s", r.Rule, b.Text)
			if b.At < Forever {
				text = fmt.Sprintf("%s: %s at %d", r.Rule, b.Text, b.At)
			}
			if r.Penalty == 0 {
				c.report.Faults = append(c.report.Faults, text)
				continue
			}
			c.report.Broken = append(c.report.Broken, text)
			c.report.Figures.Penalty += r.Penalty * int64(1+b.More)
		}
	}
}

// figures measures the plan.
func (t *Timeline) figures() Figures {
	f := Figures{Makespan: t.Makespan}
	for i := range t.Plan.Actions {
		a := &t.Plan.Actions[i]
		if int(a.Kind) >= len(Kinds) {
			continue
		}
		f.Count[a.Kind]++
		switch {
		case a.Kind == Allocate:
			continue
		case a.Kind.OnNode():
			f.All += int64(a.End)
		case a.VM >= 0 && a.VM < len(t.Instance.VMs):
			f.Objective += int64(a.End) * t.Instance.VMs[a.VM].Weight
			f.All += int64(a.End) * t.Instance.VMs[a.VM].Weight
		}
	}
	f.Migrations, f.Cost = f.Count[Migrate], t.Instance.Cost(t.Plan)
	used := make([]bool, len(t.Nodes))
	for vm := range t.Host {
		if n, ok := t.Runs(vm); ok && !used[n] {
			used[n] = true
			f.NodesUsed++
		}
		if v := &t.Instance.VMs[vm]; v.Grows() {
			f.GrowthDelay += t.Growth[vm]
		}
	}
	return f
}
