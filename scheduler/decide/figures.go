package decide

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/energy"
	"vjob/queue"
	"vjob/scheduler/balance"
	"vjob/scheduler/entitlement"
)

// Figures sum up a cluster as a decision leaves it, once its plan has been carried out.
type Figures struct {
	Nodes int // that take VMs
	// Running, Waiting and Suspended count vjobs. Those suspended in memory count as suspended.
	Running, Waiting, Suspended int
	Imbalance                   balance.Imbalance
	// Loads are those of the nodes that take VMs: what their VMs are entitled to over what they have. The most loaded
	// ones come first.
	Loads []Load
	// Capacity is that of the nodes that take VMs, Demand the CPU that the VMs on all nodes demand, Served what they
	// can get of it there.
	Capacity       cluster.Resources
	Demand, Served cluster.MilliCPU
	Power          *PowerFigures // nil without power models
	Pools          []PoolUse     // nil without pools; the cluster, then each pool after its parent
}

// PoolUse is what a pool is entitled to, and what its VMs demand.
type PoolUse struct {
	entitlement.Pool
	Wanted cluster.MilliCPU // CPU that the VMs in it demand, whatever limits say
}

// Load is the load of a node; 1 is all of it.
type Load struct {
	Node        cluster.NodeID
	CPU, Memory float64
}

// PowerFigures are what nodes with a power model draw.
type PowerFigures struct {
	Watts   energy.Watts
	Unknown int // nodes without a power model
	Budgets []BudgetUse
}

// BudgetUse is the power that a budget allows and what of it is drawn.
type BudgetUse struct {
	Group       string // "" is the cluster
	Most, Drawn energy.Watts
}

// Figures returns the figures of a decision of the view. The decision is divided among the pools, see [View.Entitle].
// The balance settings say how resources weigh in the imbalance.
func (v *View) Figures(d *Decision, set *balance.Settings) (f Figures) {
	if d.final == nil || d.Verdicts == nil {
		return f
	}
	for i := range d.VJobs {
		switch target := d.Verdicts[i].Target; {
		case target == queue.Run:
			f.Running++
		case target == queue.Suspend, target == queue.Pause, d.VJobs[i].Job.State == cluster.Suspended, d.VJobs[i].Job.State == cluster.Paused:
			f.Suspended++
		default:
			f.Waiting++
		}
	}
	v.Entitle(d)
	c := &census{View: v, d: d, at: d.Plan.Target, uses: map[cluster.NodeID]*nodeUse{}}
	if c.at == nil {
		c.at = d.final.trial.current
	}
	c.count(&f)
	c.balance(&f, set)
	c.power(&f)
	f.Pools = c.poolUses()
	return f
}

// census sums up the VMs on the nodes.
type census struct {
	*View
	d    *Decision
	at   *cluster.Configuration
	uses map[cluster.NodeID]*nodeUse
}

// nodeUse is what the VMs on a node demand, use where caps limit them, and are entitled to.
type nodeUse struct {
	demand, use cluster.MilliCPU
	entitled    cluster.Resources
}

// count sums up demands.
func (c *census) count(f *Figures) {
	uses := make([]nodeUse, len(c.at.Nodes()))
	for i, n := range c.at.Nodes() {
		c.uses[n.ID] = &uses[i]
		if n.Hosts() {
			f.Nodes++
			f.Capacity = f.Capacity.Plus(n.Capacity)
		}
	}
	for i := range c.VJobs {
		job := c.VJobs[i].Job
		for rank := range job.VMs {
			c.add(job, rank)
		}
	}
	for _, n := range c.at.Nodes() {
		use := c.uses[n.ID]
		f.Demand += use.demand
		f.Served += min(use.use, n.Capacity.CPU)
	}
}

// add counts one VM on its node, if it runs there.
func (c *census) add(job *cluster.VJob, rank int) {
	vm := job.VMs[rank].ID
	node, runs := c.at.Host(vm)
	counted := c.uses[node]
	if !runs || counted == nil {
		return
	}
	demand := c.facts.demandOf(job, rank)
	if job.Container {
		demand = c.at.Need(vm).CPU
	}
	use := demand
	if caps := c.d.Caps[job.ID]; rank < len(caps) && caps[rank] > 0 {
		use = min(use, caps[rank])
	}
	entitled := demand
	if c.d.Division != nil {
		if e, known := c.d.Division.VMs[vm]; known {
			entitled = e.Given.CPU
		}
	}
	counted.demand += demand
	counted.use += use
	counted.entitled = counted.entitled.Plus(cluster.Resources{CPU: entitled, Memory: c.at.Need(vm).Memory})
}

func amounts(r cluster.Resources) balance.Amounts {
	return balance.Amounts{balance.CPU: int64(r.CPU), balance.Memory: int64(r.Memory)}
}

// balance measures the imbalance and the loads: all VMs of a node count as one, which stays. Without pools, VMs that demand
// more than there is get parts in proportion.
func (c *census) balance(f *Figures, set *balance.Settings) {
	var model balance.Cluster
	var nodes []cluster.NodeID
	for _, n := range c.at.Nodes() {
		if !n.Hosts() || n.Capacity.CPU <= 0 || n.Capacity.Memory <= 0 {
			continue
		}
		entitled := c.uses[n.ID].entitled
		if c.d.Division == nil && f.Demand > f.Capacity.CPU && f.Demand > 0 {
			entitled.CPU = cluster.MilliCPU(float64(entitled.CPU) * float64(f.Capacity.CPU) / float64(f.Demand))
		}
		model.VMs = append(model.VMs, balance.VM{Node: len(nodes), Entitlement: amounts(entitled), Demand: amounts(entitled), Fixed: "it is only counted"})
		model.Nodes, nodes = append(model.Nodes, balance.Node{Name: string(n.ID), Capacity: amounts(n.Capacity)}), append(nodes, n.ID)
	}
	r, err := set.Round(&model)
	if err != nil {
		return
	}
	f.Imbalance = r.Before
	for i := range r.Loads {
		l := &r.Loads[i].Before
		f.Loads = append(f.Loads, Load{Node: nodes[i], CPU: l[balance.CPU], Memory: l[balance.Memory]})
	}
	slices.SortStableFunc(f.Loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(max(b.CPU, b.Memory), max(a.CPU, a.Memory)), cmp.Compare(a.Node, b.Node))
	})
}

// power sums up what the nodes draw. A node that is off and has no VMs draws its standby power.
func (c *census) power(f *Figures) {
	if !c.supply.Known() {
		return
	}
	p := &PowerFigures{}
	for _, l := range c.Limits.Now {
		p.Budgets = append(p.Budgets, BudgetUse{Group: l.Group.String(), Most: l.Watts})
	}
	for _, n := range c.at.Nodes() {
		on := n.Hosts() || len(c.at.On(n.ID)) > 0 || n.State != cluster.Down && !c.supply.Off[n.ID]
		load := 0.0
		if n.Capacity.CPU > 0 {
			load = min(1, float64(c.uses[n.ID].use)/float64(n.Capacity.CPU))
		}
		watts, known := c.wattsOf(n.ID, on, load)
		if !known {
			p.Unknown++
			continue
		}
		p.Watts += watts
		for i, l := range c.Limits.Now {
			if l.Group.Has(n.Labels) {
				p.Budgets[i].Drawn += watts
			}
		}
	}
	f.Power = p
}

// wattsOf returns what a node draws at a load between 0 and 1.
func (c *census) wattsOf(id cluster.NodeID, on bool, load float64) (watts energy.Watts, known bool) {
	power, known := c.supply.Models[id]
	switch {
	case !known:
		return 0, false
	case !on:
		return max(power.Standby, c.supply.Least[id]), true
	default:
		return max(power.At(load), c.supply.Least[id]), true
	}
}

// poolUses returns the pools of a division with what their VMs demand. Vjobs inside a container are in its pool.
func (c *census) poolUses() []PoolUse {
	if c.d.Division == nil {
		return nil
	}
	list := make([]PoolUse, len(c.d.Division.Pools))
	for i := range list {
		list[i].Pool = c.d.Division.Pools[i]
	}
	containers := map[cluster.VJobID]string{}
	for i := range c.d.VJobs {
		job := c.d.VJobs[i].Job
		name := c.poolOf(job)
		if job.Container {
			containers[job.ID] = name
			continue
		}
		if job.Inner != 0 && job.Pool == "" {
			name = containers[job.Inner]
		}
		own, _ := c.facts.Pools.Pool(name)
		for rank := range job.VMs {
			if _, runs := c.d.Division.VMs[job.VMs[rank].ID]; !runs {
				continue
			}
			for at := own; at >= 0; at = list[at].Parent {
				list[at].Wanted += c.facts.demandOf(job, rank)
			}
		}
	}
	return list
}

// ForecastAfter returns the inputs of forecasts from a decision of the view on, as [View.ForecastInputs] does. Vjobs
// that the decision stops compete for capacity from now on.
func (v *View) ForecastAfter(d *Decision) []*ForecastInput {
	decided := make(map[cluster.VJobID]queue.Verdict, len(d.VJobs))
	for i := range d.Verdicts {
		decided[d.VJobs[i].Job.ID] = d.Verdicts[i]
	}
	inputs := v.ForecastInputs(decided)
	for _, in := range inputs {
		for i := range in.Jobs {
			if j := &in.Jobs[i]; j.Runs && in.VJobs[i].State == cluster.Running && decided[j.ID].Target != queue.Run {
				j.Runs, j.Yields = false, false
			}
		}
	}
	return inputs
}
