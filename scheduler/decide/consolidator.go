package decide

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/consolidate"
	"vjob/queue"
)

// consolidator is the outcome of an attempt as package consolidate sees it: nodes and VMs by index.
type consolidator struct {
	relocation
	*ConsolidationRequest
	model    consolidate.Problem
	nodes    []cluster.NodeID
	number   map[cluster.NodeID]int
	vms      []cluster.VMID
	allowed  *ctxswitch.AllowedNodes // nil if VMs may go to all nodes
	perCPU   energy.Watts
	objected bool // power management would keep nodes on that become empty
	manual   bool // manual vjobs move
	unsafe   bool // too little would be left for the loss of nodes
}

func (a *attempt) newConsolidator(d *Decision, ask *ConsolidationRequest, manual bool) (*consolidator, error) {
	s := &consolidator{relocation: a.newRelocation(d), ConsolidationRequest: ask, manual: manual, number: map[cluster.NodeID]int{}, perCPU: a.supply.PerCPU(a.Nodes())}
	s.model = consolidate.Problem{Resources: []string{"processors", "memory", "use of processors"}, Criteria: ask.Criteria, Seed: a.settings.Seed}
	if len(a.trial.rules) > 0 || len(a.trial.avoid) > 0 || len(a.trial.incompatible) > 0 {
		var err error
		if s.allowed, err = ctxswitch.NewAllowedNodes(s.problem); err != nil {
			return nil, err
		}
	}
	for _, n := range a.trial.current.Nodes() {
		power, known := a.supply.Models[n.ID]
		if ask.Pack {
			power, known = packPower, true
		}
		if known && n.Hosts() && n.Capacity.CPU > 0 && !a.supply.Off[n.ID] {
			s.number[n.ID] = len(s.nodes)
			s.nodes = append(s.nodes, n.ID)
			s.model.Nodes = append(s.model.Nodes, s.node(&n, power))
		}
	}
	for i := range a.VJobs {
		s.addVJob(i)
	}
	return s, nil
}

// keepNodesOn lets no node go off: power is then saved by placement alone.
func (s *consolidator) keepNodesOn() {
	for n := range s.model.Nodes {
		s.model.Nodes[n].MayTurnOff = false
	}
}

// node returns a node that takes VMs, without the resources that claims and paused VMs use.
func (s *consolidator) node(n *cluster.Node, power energy.Power) consolidate.Node {
	fill, spare := 1.0, s.Pack
	if s.NodePower != nil {
		fill, spare = s.NodePower.Fill(), s.Pack || s.NodePower.MayGoOff(n.ID)
	}
	other := s.trial.claims[n.ID]
	for _, vm := range s.trial.current.On(n.ID) {
		if _, runs := s.trial.current.Host(vm); !runs {
			other = other.Plus(s.trial.current.Need(vm).Paused())
			spare = false
		}
	}
	cpu := float64(n.Capacity.CPU)
	return consolidate.Node{
		Power: power, CPU: cpu, MayTurnOff: spare && other == cluster.Resources{},
		Capacity: []float64{max(0, cpu-float64(other.CPU)), max(0, fill*float64(n.Capacity.Memory)-float64(other.Memory)), fill * cpu},
	}
}

// addVJob adds the running VMs of a vjob.
func (s *consolidator) addVJob(report int) {
	r := &s.VJobs[report]
	fixed := r.Busy() || s.quarantined[r.Job.ID] != "" || r.Job.Container || s.verdicts[report].Target != queue.Run
	fixed = fixed || r.Job.Moves == cluster.MovesNever || r.Job.Moves == cluster.MovesManual && !s.manual
	left := s.left(report, s.Horizon)
	first := len(s.vms)
	uses, live := cluster.MilliCPU(0), true
	for k := range r.Job.VMs {
		vm := r.Job.VMs[k].ID
		at, runs := s.trial.current.Host(vm)
		n, known := s.number[at]
		if !runs || !known {
			fixed = fixed || runs // the node of a member has no power model
			continue
		}
		need, load := s.trial.current.Need(vm), s.Uses(vm)
		if most := s.facts.Bookings.Cap(vm); most > 0 {
			load = min(load, most)
		}
		live, uses = live && s.trial.live[vm], uses+load
		s.vms = append(s.vms, vm)
		s.model.VMs = append(s.model.VMs, consolidate.VM{
			Node: n, Load: float64(load), Need: []float64{float64(need.CPU), float64(need.Memory), float64(load)}, Remaining: left,
			Fixed: s.trial.pinned[vm] || s.Keeps != nil && s.Keeps(vm) || s.allowed != nil && s.allowed.Stays(vm),
		})
	}
	for i := first; i < len(s.vms); i++ {
		v := &s.model.VMs[i]
		v.Fixed = v.Fixed || fixed
		takes := s.costs.Duration(cluster.Migrate, cluster.MiB(v.Need[1]), s.trial.current.Place(s.vms[i]), "")
		v.MoveEnergy = s.copyEnergy(takes)
		if !live {
			v.MoveEnergy += s.pauseEnergy(uses, takes)
		}
	}
}

// copyCPU is the CPU that a migration takes on both nodes together, as in package energy/dpm.
const copyCPU = cluster.CPU

// copyEnergy returns the energy that copying for so long takes.
func (s *consolidator) copyEnergy(takes time.Duration) energy.Joules {
	return (s.perCPU * energy.Watts(copyCPU) / energy.Watts(cluster.CPU)).Over(takes)
}

// pauseEnergy returns the energy of the work that VMs paused for so long have to do later.
func (s *consolidator) pauseEnergy(uses cluster.MilliCPU, takes time.Duration) energy.Joules {
	return (s.perCPU * energy.Watts(uses) / energy.Watts(cluster.CPU)).Over(takes)
}

// price compares what the plan saves with what it costs.
func (s *consolidator) price(c *Consolidation, a *consolidate.Result) {
	c.Saves, c.Costs = s.model.Saves(a, c.Plan.Makespan), s.model.Switching(a)
	uses := map[cluster.VJobID]cluster.MilliCPU{}
	for i, vm := range s.vms {
		uses[vm.VJob] += cluster.MilliCPU(s.model.VMs[i].Load)
	}
	for _, g := range c.Plan.Gangs {
		from, until, live := c.Plan.Makespan, time.Duration(0), true
		for _, id := range g.Actions {
			m := &c.Plan.Actions[id]
			c.Costs += s.copyEnergy(m.End - m.Start)
			from, until, live = min(from, m.Start), max(until, m.End), live && m.Live
		}
		if !live {
			c.Costs += s.pauseEnergy(uses[g.VJob], until-from)
		}
	}
	if float64(c.Saves) < s.Factor*float64(c.Costs) {
		c.Why = fmt.Sprintf("that is less than %g times what it costs", s.Factor)
	}
}

// packPower is what a node counts for that has VMs, if only the number of such nodes matters.
var packPower = energy.Power{Idle: 1000, Full: 1000}
