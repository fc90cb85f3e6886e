package decide_test

import (
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// observedWorld is a world in which each VM demands the same CPU.
type observedWorld struct {
	*world
	demand cluster.MilliCPU
}

// Need implements [decide.Bookings].
func (w observedWorld) Need(vm cluster.VMID) cluster.Resources {
	need := w.world.Need(vm)
	need.CPU = w.demand
	return need
}

// The demand of a vjob does not count beyond what the nodes that it may use can hold: it would be suspended for room
// that can never be free.
func TestDemandBeyondAllNodesIsLimited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		demand, reserved cluster.MilliCPU
		rules            string
		old              bool // n3 cannot run the VMs
		state            cluster.NodeState
		want             []cluster.MilliCPU // nil: there is no limit
	}{
		{name: "fits alone", demand: 3000, reserved: 1000},
		{name: "no node is as large", demand: 5000, reserved: 1000, want: []cluster.MilliCPU{1000, 1000, 1000}},
		{name: "its hardware leaves two nodes", demand: 3000, reserved: 1000, old: true, want: []cluster.MilliCPU{1000, 1000, 1000}},
		{name: "its rules leave one node", demand: 2000, reserved: 1000, rules: "fence($ALL_VMS, {n1});", want: []cluster.MilliCPU{1000, 1000, 1000}},
		{name: "what it reserved does not fit either", demand: 3000, reserved: 2500, rules: "fence($ALL_VMS, {n1});", want: []cluster.MilliCPU{1250, 1250, 1250}},
		{name: "nodes that take no VMs now count", demand: 3000, reserved: 1000, state: cluster.Draining},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, facts := twoGenerations()
			job := &cluster.VJob{ID: 12, Owner: "ann", Submitted: epoch, Rules: c.rules, Terms: &cluster.Terms{}}
			for rank := range 3 {
				job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: 12, Rank: rank}, Reserved: cluster.Resources{CPU: c.reserved, Memory: 1024}})
			}
			w.jobs = []member{{job: job, at: []cluster.NodeID{"n1", "n1", "n1"}}}
			w.nodes[2].State = c.state
			f := facts()
			f.Bookings = observedWorld{w, c.demand}
			if !c.old {
				f.Hardware = nil
			}
			for rank := range job.VMs {
				if c.old {
					f.Hardware[job.VMs[rank].ID] = execute.Hardware{
						Hardware: &hypervisor.Hardware{Type: "kvm", Arch: "x86_64", Features: []string{"avx2", "avx512f"}}, Node: "n1",
					}
				}
			}
			s := settings()
			s.Policy = queue.FirstFit{Count: queue.Assumed}
			d := decided(t, decide.NewView(s, f))
			if got := d.DemandLimits[12]; !slices.Equal(got, c.want) {
				t.Errorf("limits %v, want %v", got, c.want)
			}
			if c.want != nil && d.Verdicts[0].Target != queue.Run {
				t.Errorf("%+v, want it to run on", d.Verdicts[0])
			}
		})
	}
}
