package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/nodepower"
)

// powerOperator switches nodes off and on during a run. It has its own random numbers, so that
// the rest of a run is the same with and without it.
type powerOperator struct {
	rng  *rand.Rand // nil: switches no nodes
	next time.Time
}

// unmanaged returns the machines on a node that vjob does not manage. They prevent a node from
// being switched off, so only the first node has one in runs with node power.
func (r *run) unmanaged(node int) []string {
	if r.opts.Power && node > 0 {
		return nil
	}
	return []string{"unmanaged"}
}

// switchable makes every node of a run switchable.
func (r *run) switchable(settings *scheduler.Settings) {
	if !r.opts.Power {
		return
	}
	r.operator.rng = rand.New(rand.NewPCG(r.opts.Seed, 0x90e7))
	p := &settings.Switching
	p.Limits, p.Reply = cycle.DefaultLimits, 10*time.Second
	p.Limits.On = 4 * time.Minute
	for _, n := range r.cluster.Nodes() {
		p.Nodes = append(p.Nodes, n.ID)
	}
	if r.opts.Manage {
		settings.NodePower = &nodepower.PolicySettings{Settings: dpm.Default, Every: 20 * time.Second, Boot: time.Minute}
		m := &settings.NodePower.Settings
		m.OffWindow, m.OnWindow, m.MinOn, m.Factor = 3*time.Minute, time.Minute, time.Minute, 1
	}
}

// switchNode switches a node from time to time; some nodes fail to boot.
func (r *run) switchNode() {
	p := &r.operator
	if p.rng == nil || r.opts.Manage && r.opts.Seed%2 == 0 || r.shell.Now().Before(p.next) {
		return
	}
	p.next = r.shell.Now().Add(time.Duration(p.rng.IntN(240)) * time.Second)
	nodes := r.cluster.Nodes()
	node := nodes[p.rng.IntN(len(nodes))].ID
	if p.rng.IntN(4) == 0 {
		fault := simulated.Fault{Kind: simulated.BootFails, Node: node}
		if err := r.cluster.Inject(r.shell.Now(), fault); err != nil {
			panic(err) // an armed fault waits
		}
	}
	_ = r.shell.SetPower(node, cycle.Want(p.rng.IntN(2)), "op") // may be refused
}

// PowerRequested checks a power request before it is made: a node to be switched off is empty,
// and the intent is committed.
func (k *Checker) PowerRequested(_ time.Time, ask power.Request) {
	k.tell("   => %s %s", ask.Verb, ask.Node)
	if ask.Verb != power.TurnOff {
		return
	}
	k.counts.Offs++
	if phase := k.power[ask.Node].Phase; phase != cycle.Stopping {
		k.violate(10, "node %s is switched off, its committed phase is %s", ask.Node, phase)
	}
	if ask.Node == "n1" {
		k.violate(15, "node n1 is switched off, and has an unmanaged machine")
	}
	for _, c := range k.cluster.Truth().Copies {
		if c.Node == ask.Node {
			k.violate(1, "node %s is switched off, and has a copy of %s", ask.Node, c.VM)
		}
	}
}

// switchOn requests that every node is on.
func (r *run) switchOn() {
	r.operator.rng = nil
	for _, n := range r.cluster.Nodes() {
		_ = r.shell.SetPower(n.ID, cycle.WantOn, "op") // refused where no node can be switched
	}
}

// dark returns which node is not on, or "" if all are on.
func (r *run) dark() string {
	s := r.shell.Snapshot()
	if s == nil {
		return "the scheduler is down"
	}
	if r.opts.Manage {
		return "" // idle nodes are off again
	}
	for _, n := range s.Nodes {
		if n.Switch != nil && n.Switch.Phase != cycle.On {
			return fmt.Sprintf("node %s is %s: %s", n.ID, n.Switch.Phase, n.Switch.Problem)
		}
	}
	return ""
}

// powers are the committed power states of nodes.
type powers map[cluster.NodeID]cycle.Record
