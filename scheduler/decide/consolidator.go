package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy"
	"vjob/energy/consolidate"
	"vjob/queue"
)

// consolidator is the outcome of an attempt as package consolidate sees it: nodes and VMs by index.
type consolidator struct {
	*attempt
	*ConsolidationRequest
	verdicts    []queue.Verdict                       // of the vjobs of the view
	caps        map[cluster.VJobID][]cluster.MilliCPU // before
	planProblem ctxswitch.Problem
	model       consolidate.Problem
	nodes       []cluster.NodeID
	number      map[cluster.NodeID]int
	vms         []cluster.VMID
	jobs        []int                   // index of the report of each VM; -1 if none
	allowed     *ctxswitch.AllowedNodes // nil if VMs may go to all nodes
	perCPU      energy.Watts
	objected    bool // power management would keep nodes on that become empty
}

func (a *attempt) newConsolidator(d *Decision, ask *ConsolidationRequest) (*consolidator, error) {
	verdicts := d.Verdicts[:len(a.VJobs)]
	goals, _ := a.goals(verdicts)
	s := &consolidator{attempt: a, ConsolidationRequest: ask, verdicts: verdicts, caps: d.Caps, planProblem: a.problem(goals), number: map[cluster.NodeID]int{}, perCPU: a.supply.PerCPU(a.Nodes())}
	s.model = consolidate.Problem{Resources: []string{"processors", "memory", "use of processors"}, Criteria: ask.Criteria, Seed: a.settings.Seed}
	if len(a.trial.rules) > 0 || len(a.trial.avoid) > 0 || len(a.trial.incompatible) > 0 {
		var err error
		if s.allowed, err = ctxswitch.NewAllowedNodes(s.planProblem); err != nil {
			return nil, err
		}
	}
	for _, n := range a.trial.current.Nodes() {
		if power, known := a.supply.Models[n.ID]; known && n.Hosts() && n.Capacity.CPU > 0 && !a.supply.Off[n.ID] {
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
	fill, spare := 1.0, false
	if s.NodePower != nil {
		fill, spare = s.NodePower.Fill(), s.NodePower.MayGoOff(n.ID)
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
	fixed := !r.Idle || r.Blind || s.quarantined[r.Job.ID] != "" || r.Job.Container || s.verdicts[report].Target != queue.Run
	left := s.left(report)
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
		s.vms, s.jobs = append(s.vms, vm), append(s.jobs, report)
		s.model.VMs = append(s.model.VMs, consolidate.VM{
			Node: n, Load: float64(load), Need: []float64{float64(need.CPU), float64(need.Memory), float64(load)}, Remaining: left,
			Fixed: s.trial.pinned[vm] || s.Keeps != nil && s.Keeps(vm) || s.allowed != nil && s.allowed.Stays(vm),
		})
	}
	for i := first; i < len(s.vms); i++ {
		v := &s.model.VMs[i]
		v.Fixed = v.Fixed || fixed
		takes := s.settings.Execute.Costs.Duration(cluster.Migrate, cluster.MiB(v.Need[1]), false)
		v.MoveEnergy = s.copyEnergy(takes)
		if !live {
			v.MoveEnergy += s.pauseEnergy(uses, takes)
		}
	}
}

// left returns how long a vjob is expected to run on: any time up to its walltime is as likely.
func (s *consolidator) left(report int) time.Duration {
	r := &s.VJobs[report]
	if r.Job.Walltime == 0 {
		return max(s.Horizon, 24*time.Hour)
	}
	return max(0, r.Job.Walltime-r.Ran) / walltimeDivisor
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
