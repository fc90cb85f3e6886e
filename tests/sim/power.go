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

// presser is whoever switches nodes off and on while a run goes on. It has chances of
// its own, so that the rest of a run is the same with and without it.
type presser struct {
	chance *rand.Rand // nil: nobody switches anything
	next   time.Time
}

// strangers are the machines on a node that are none of ours. They keep it from being
// switched off, so there is only one where nodes are.
func (r *run) strangers(node int) []string {
	if r.opts.Power && node > 0 {
		return nil
	}
	return []string{"somebody-elses"}
}

// switchable lets every node of a run be switched.
func (r *run) switchable(settings *scheduler.Settings) {
	if !r.opts.Power {
		return
	}
	r.presser.chance = rand.New(rand.NewPCG(r.opts.Seed, 0x90e7))
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

// press switches a node now and then; some do not come up when they are asked to.
func (r *run) press() {
	p := &r.presser
	if p.chance == nil || r.opts.Manage && r.opts.Seed%2 == 0 || r.shell.Now().Before(p.next) {
		return
	}
	p.next = r.shell.Now().Add(time.Duration(p.chance.IntN(240)) * time.Second)
	nodes := r.cluster.Nodes()
	node := nodes[p.chance.IntN(len(nodes))].ID
	if p.chance.IntN(4) == 0 {
		fault := simulated.Fault{Kind: simulated.BootFails, Node: node}
		if err := r.cluster.Inject(r.shell.Now(), fault); err != nil {
			panic(err) // an armed fault waits
		}
	}
	_ = r.shell.SetPower(node, cycle.Want(p.chance.IntN(2)), "op") // a refusal is as good
}

// Pressed checks a request for power just before it is made: what goes off is empty,
// and that it shall go off is written down.
func (k *Checker) Pressed(_ time.Time, ask power.Request) {
	k.tell("   => %s %s", ask.Verb, ask.Node)
	if ask.Verb != power.TurnOff {
		return
	}
	k.counts.Presses++
	if phase := k.power[ask.Node].Phase; phase != cycle.Stopping {
		k.violate(10, "node %s is asked to go off, and what is written down is that it is %s", ask.Node, phase)
	}
	if ask.Node == "n1" {
		k.violate(15, "node n1 is asked to go off, and has a machine that is none of ours")
	}
	for _, c := range k.cluster.Truth().Copies {
		if c.Node == ask.Node {
			k.violate(1, "node %s is asked to go off while it has a copy of %s", ask.Node, c.VM)
		}
	}
}

// switchOn wants every node on again.
func (r *run) switchOn() {
	r.presser.chance = nil
	for _, n := range r.cluster.Nodes() {
		_ = r.shell.SetPower(n.ID, cycle.WantOn, "op") // refused where no node can be switched
	}
}

// dark says which node is not on, "" when all are.
func (r *run) dark() string {
	s := r.shell.Snapshot()
	if s == nil {
		return "the scheduler is down"
	}
	if r.opts.Manage {
		return "" // those that nothing needs are off again
	}
	for _, n := range s.Nodes {
		if n.Switch != nil && n.Switch.Phase != cycle.On {
			return fmt.Sprintf("node %s is %s: %s", n.ID, n.Switch.Phase, n.Switch.Problem)
		}
	}
	return ""
}

// powers keeps what is written down of the power of nodes.
type powers map[cluster.NodeID]cycle.Record
