package simclock_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy/dpm"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// plant is a cluster of four nodes of 2 CPU that can be switched.
type plant struct {
	scene
	presses []power.Request
}

func switchable(t *testing.T, manage *nodepower.PolicySettings, change ...func(*scheduler.Settings)) *plant {
	t.Helper()
	p := &plant{scene: scene{t: t, store: simstore.Open(t)}}
	config := simulated.Config{Profile: simulated.Lab, Locks: true}
	set := nodepower.ControllerSettings{Limits: cycle.DefaultLimits, Reply: time.Second}
	for i := range 4 {
		id := cluster.NodeID(fmt.Sprintf("n%d", i+1))
		config.Nodes = append(config.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 2048}})
		set.Nodes = append(set.Nodes, id)
	}
	p.cluster = simulated.New(config)
	settings := scheduler.Settings{
		Settings: decide.Settings{
			Execute: execute.DefaultSettings, Policy: queue.FCFS{}, Planner: ctxswitch.Repacker{},
			Backoff: 5 * time.Second, Live: true,
		},
		Rest: 100 * time.Millisecond, Switching: set, NodePower: manage,
	}
	for _, f := range change {
		f(&settings)
	}
	var err error
	p.shell, err = simclock.New(simclock.Config{
		Settings: settings, Cluster: p.cluster, Store: p.store, Down: 3 * time.Second,
		Crash: func(point string) bool { return p.crash != nil && p.crash(point) },
		Pressed: func(_ time.Time, ask power.Request) {
			if ask.Verb != power.Query {
				p.presses = append(p.presses, ask)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.cluster.OnChange = func(c simulated.Change) {
		if c.Kind == simulated.Lost {
			t.Errorf("%s was on %s when that went off", c.VM, c.Node)
		}
	}
	return p
}

// managed is power management with short windows.
func managed() *nodepower.PolicySettings {
	m := &nodepower.PolicySettings{Settings: dpm.Default, Every: time.Minute, Boot: 2 * time.Minute}
	m.OffWindow, m.OnWindow, m.MinOn = 5*time.Minute, time.Minute, time.Minute
	return m
}

// count returns the number of nodes in a phase.
func (p *plant) count(phase cycle.Phase) (n int) {
	p.t.Helper()
	for _, node := range p.shell.Snapshot().Nodes {
		if node.Switch.Phase == phase {
			n++
		}
	}
	return n
}

func (p *plant) phase(id cluster.NodeID) cycle.Phase {
	p.t.Helper()
	for _, n := range p.shell.Snapshot().Nodes {
		if n.ID == id {
			return n.Switch.Phase
		}
	}
	p.t.Fatalf("there is no node %s", id)
	return 0
}

// hour is a vjob of so many VMs of 1 CPU that need half of it for an hour.
func (p *plant) hour(vms int) cluster.VJobID {
	p.t.Helper()
	sub := admission.Submission{Owner: "u", Name: fmt.Sprint(p.shell.Now().Unix()), VMs: make([]cluster.VM, vms)}
	for i := range sub.VMs {
		sub.VMs[i] = cluster.VM{
			Reserved: cluster.Resources{CPU: 1000, Memory: 256},
			Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 500, Duration: time.Hour}}}},
		}
	}
	job, err := p.shell.Submit(sub)
	if err != nil {
		p.t.Fatal(err)
	}
	return job.ID
}

func TestIdleNodesGoOffAndComeBackForWaitingVJobs(t *testing.T) {
	p := switchable(t, managed())
	small := p.hour(1)
	p.run(15 * time.Minute)
	if on, off := p.count(cycle.On), p.count(cycle.Off); on != 1 || off != 3 || p.state(small) != cluster.Running {
		t.Fatalf("%d are on and %d off, the vjob is %s", on, off, p.state(small))
	}
	large := p.hour(3)
	p.run(10 * time.Second)
	if n := p.count(cycle.Starting); n != 1 {
		t.Fatalf("%d nodes boot for 3 VMs of which one fits already", n)
	}
	p.run(3 * time.Minute)
	if p.state(large) != cluster.Running {
		t.Fatalf("it is %s", p.state(large))
	}
	p.run(20 * time.Minute)
	if p.count(cycle.On) != 2 {
		t.Errorf("%d are on", p.count(cycle.On))
	}
	p.run(2 * time.Hour)
	if p.state(small) != cluster.Terminated || p.state(large) != cluster.Terminated || p.count(cycle.On) != 1 {
		t.Errorf("%s, %s; %d are on", p.state(small), p.state(large), p.count(cycle.On))
	}
}

// Nodes that are off are up when a reservation begins that needs them, and stay on until then.
func TestNodesWakeForAReservation(t *testing.T) {
	p := switchable(t, managed())
	p.run(15 * time.Minute)
	if off := p.count(cycle.Off); off != 3 {
		t.Fatalf("%d are off", off)
	}
	sub := admission.Submission{Owner: "u", Walltime: time.Hour, VMs: make([]cluster.VM, 6)}
	for i := range sub.VMs {
		sub.VMs[i] = cluster.VM{
			Reserved: cluster.Resources{CPU: 1000, Memory: 256},
			Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 500, Duration: time.Hour}}}},
		}
	}
	sub.Reservation = p.shell.Now().Add(time.Hour)
	job, err := p.shell.Submit(sub)
	if err != nil {
		t.Fatal(err)
	}
	p.run(50 * time.Minute)
	if off := p.count(cycle.Off); off != 3 {
		t.Errorf("ten minutes before, %d are off", off)
	}
	p.run(9 * time.Minute)
	if on := p.count(cycle.On); on != 3 {
		t.Errorf("a minute before, %d are on", on)
	}
	p.run(time.Minute + 5*time.Second)
	if state := p.state(job.ID); state != cluster.Running {
		t.Errorf("five seconds after its reservation has begun it is %s", state)
	}
}

// Power management leaves nodes alone that an administrator has drained or switched.
func TestAdministratorsOverridePowerManagement(t *testing.T) {
	p := switchable(t, managed())
	p.hour(1)
	if err := p.shell.SetPower("n4", cycle.WantOff, "root"); err != nil {
		t.Fatal(err)
	}
	if err := p.shell.SetNode("n3", cluster.Draining, "root"); err != nil {
		t.Fatal(err)
	}
	p.run(15 * time.Minute)
	if p.phase("n3") != cycle.On || p.phase("n4") != cycle.Off {
		t.Fatalf("the drained one is %s, the other %s", p.phase("n3"), p.phase("n4"))
	}
	p.hour(3)
	p.run(10 * time.Minute)
	if p.phase("n4") != cycle.Off || p.count(cycle.On) != 3 {
		t.Errorf("n4 is %s, %d are on", p.phase("n4"), p.count(cycle.On))
	}
}

func TestRefusedSwitches(t *testing.T) {
	p := switchable(t, nil)
	p.run(time.Minute)
	if err := p.shell.SetNode("n1", cluster.Down, "root"); err != nil {
		t.Fatal(err)
	}
	if err := p.cluster.Inject(p.shell.Now(), simulated.Fault{Kind: simulated.Partition, Node: "n2"}); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	for node, want := range map[cluster.NodeID]string{
		"n1": "node n1 is down: set it online first: conflict",
		"n2": "node n2 does not answer, so it is unknown what it holds: conflict",
		"n9": "node n9: not found",
	} {
		if err := p.shell.SetPower(node, cycle.WantOff, "root"); err == nil || err.Error() != want {
			t.Errorf("%s: %v", node, err)
		}
	}
	if len(p.presses) > 0 {
		t.Errorf("pressed: %v", p.presses)
	}
}

// A node that does not boot is switched on three times, then given up with an alarm;
// its vjob gets another node.
func TestANodeThatDoesNotComeBack(t *testing.T) {
	p := switchable(t, managed())
	p.hour(1)
	p.run(15 * time.Minute)
	for range 3 {
		if err := p.cluster.Inject(p.shell.Now(), simulated.Fault{Kind: simulated.BootFails}); err != nil {
			t.Fatal(err)
		}
	}
	p.presses = nil
	large := p.hour(3)
	p.run(time.Hour)
	if p.count(cycle.Stuck) != 1 || p.state(large) != cluster.Running {
		t.Errorf("%d are left alone, the vjob is %s", p.count(cycle.Stuck), p.state(large))
	}
	asked := 0
	for _, ask := range p.presses {
		if ask.Verb == power.TurnOn {
			asked++
		}
	}
	if asked != 4 {
		t.Errorf("asked %d times: %v", asked, p.presses)
	}
}

// The node reaches its state although the scheduler crashes at any point of switching it.
func TestCrashWhileSwitching(t *testing.T) {
	for at := 1; ; at++ {
		p := switchable(t, nil)
		id := p.hour(2)
		p.run(time.Minute)
		points, died := 0, false
		p.crash = func(string) bool {
			points++
			if points == at {
				died = true
			}
			return points == at
		}
		for _, want := range []cycle.Want{cycle.WantOff, cycle.WantOn} {
			for tries := 0; tries < 100 && (p.shell.SetPower("n1", want, "root") != nil || p.shell.Snapshot() == nil); tries++ {
				p.run(time.Second) // it crashed before the acknowledgement
			}
			p.run(15 * time.Minute) // by then a recorded request that was not made is repeated
			if got := p.phase("n1").String(); got != want.String() {
				t.Fatalf("died at %d: n1 is %s, want %s", at, got, want)
			}
		}
		if p.state(id) != cluster.Running {
			t.Fatalf("died at %d: the vjob is %s", at, p.state(id))
		}
		if !died {
			t.Logf("%d points", at-1)
			return
		}
	}
}
