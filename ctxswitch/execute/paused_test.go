package execute_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// standing has vjob 1, of two members of 1 CPU and 1 GiB, stand still on a, which has 4
// CPU and 4 GiB, beside others.
func standing(t *testing.T, others ...*cluster.VJob) *harness {
	t.Helper()
	l := world(append([]*cluster.VJob{job(1, 2, cluster.Paused)}, others...)...)
	l.Gangs = append(l.Gangs, at(1, gang.Paused, "a", "a"))
	for _, j := range others {
		if j.State == cluster.Running {
			l.Gangs = append(l.Gangs, at(j.ID, gang.Active, "a"))
		}
	}
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "a", hypervisor.CopyPaused)
	d.settle()
	return d
}

// unpause begins a plan that lets vjob 1 go on.
func (d *harness) unpause() {
	d.adopt([]ctxGang{group(cluster.Unpause, 1, 0, 1)},
		act(cluster.Unpause, 1, 0, "a", "a"), act(cluster.Unpause, 1, 1, "a", "a"))
}

// large is a vjob of one member with so much CPU.
func large(id cluster.VJobID, cpu cluster.MilliCPU, state cluster.State) *cluster.VJob {
	j := job(id, 1, state)
	j.VMs[0].Reserved.CPU = cpu
	return j
}

// A paused VM uses memory and no CPU: a VM that needs all of the CPU comes, one that needs
// all of the memory does not.
func TestStandingUsesMemoryOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		need cluster.Resources
		want string
	}{
		{"all of the CPU", cluster.Resources{CPU: 4000, Memory: 2048}, "1 boot 2.0@a"},
		{"more than its share of the memory", cluster.Resources{CPU: 1000, Memory: 2049}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			comes := job(2, 1, cluster.Waiting)
			comes.VMs[0].Reserved = c.need
			d := standing(t, comes)
			d.adopt([]ctxGang{group(cluster.Boot, 2, 0)}, act(cluster.Boot, 2, 0, "", "a"))
			d.wants(c.want)
		})
	}
}

// A gang goes on in place as soon as there is CPU for all of it.
func TestGoesOnWhenThereIsCPU(t *testing.T) {
	d := standing(t, large(9, 3000, cluster.Running))
	d.unpause()
	d.isIn(gang.Paused)
	d.wants("")
	d.gone(9, 0, "a")
	d.pass(5 * time.Second)
	d.isIn(gang.Resuming)
	if got := d.wanted(); !strings.Contains(got, "unpause 1.0@a") || !strings.Contains(got, "unpause 1.1@a") {
		t.Errorf("got %s", got)
	}
}

// A VM that needs more CPU than the node has continues with all of it, and not with less:
// waiting longer would not give it more.
func TestGoesOnWithWhatTheNodeHas(t *testing.T) {
	for _, c := range []struct {
		beside cluster.MilliCPU
		want   gang.Phase
	}{{0, gang.Resuming}, {1000, gang.Paused}} {
		l := world(job(1, 2, cluster.Paused), large(9, c.beside, cluster.Running))
		l.VJobs[0].VMs[0].Reserved.CPU = 4500
		l.Gangs = append(l.Gangs, at(1, gang.Paused, "a", "a"), at(9, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.has(1, 1, "a", hypervisor.CopyPaused)
		d.settle()
		d.unpause()
		d.isIn(c.want)
	}
}

// What a gang needs to go on is the CPU that its members need that have not ended, on nodes that
// answer; one that needs none goes on though the node has none left.
func TestWhatAGangNeedsToGoOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(first *gang.Member)
		needs  cluster.MilliCPU // of its first member
		beside cluster.MilliCPU // that others need on the node
		goesOn bool
	}{
		{"as much as there is", nil, 3000, 1000, true},
		{"more", nil, 3001, 1000, false},
		{"nothing where no CPU is left", nil, 0, 4000, true},
		{"a little where no CPU is left", nil, 1, 4000, false},
		{"nothing where more is used than there is", nil, 0, 5000, true},
		{"a member that has ended", func(m *gang.Member) { m.Ended = true }, 3001, 1000, true},
		{"a node that is not known", func(m *gang.Member) { m.Node = "x" }, 0, 0, false},
		{"a node that does not answer", func(m *gang.Member) { m.Node = "c" }, 0, 0, false},
	} {
		l := world(job(1, 2, cluster.Paused), large(9, c.beside, cluster.Running))
		l.VJobs[0].VMs[0].Reserved.CPU, l.VJobs[0].VMs[1].Reserved.CPU = c.needs, 0
		l.Gangs = append(l.Gangs, at(1, gang.Paused, "a", "b"), at(9, gang.Active, "a"))
		if c.change != nil {
			c.change(&l.Gangs[0].Members[0])
		}
		d := newHarness(t, settings(), l)
		d.dead["c"] = true
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.has(1, 1, "b", hypervisor.CopyPaused)
		d.settle()
		d.unpause()
		if r, _ := d.exec.Job(1); (r.Record.Phase == gang.Resuming) != c.goesOn {
			t.Errorf("%s: it is %s", c.name, r.Record.Phase)
		}
	}
}

// When there is no CPU for too long, its plan is given up, and it goes on standing. The next plan
// is given as much time.
func TestStandsWhenThereIsNoCPU(t *testing.T) {
	d := standing(t, large(9, 3000, cluster.Running))
	for failures := range 2 {
		d.unpause()
		d.pass(settings().RoomTimeout - time.Second)
		if r, _ := d.exec.Job(1); r.Idle || r.Failures != failures {
			t.Errorf("before its time is over: idle %t, %d failures", r.Idle, r.Failures)
		}
		d.pass(time.Second)
		d.isIn(gang.Paused)
		if r, _ := d.exec.Job(1); !r.Idle || r.Failures != failures+1 || !strings.Contains(r.Why, "no CPU or power to go on") {
			t.Errorf("idle %t, %d failures: %s", r.Idle, r.Failures, r.Why)
		}
	}
	for _, c := range d.calls {
		if c.VM.VJob == 1 {
			t.Errorf("%s of %s", c.Verb, c.VM)
		}
	}
}

// While it stands still its memory is accounted for; it does not run, and its walltime
// stands still too.
func TestAccountOfWhatStands(t *testing.T) {
	d := standing(t)
	d.pass(100 * time.Second)
	if r, _ := d.exec.Job(1); r.Ran != 0 {
		t.Errorf("it ran for %s", r.Ran)
	}
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if got, want := d.usage(), (journal.Usage{MemorySec: 2 * 102400}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What stands still in memory draws nothing, so the power that it would need is there for
// others; and it goes on when there is that power again.
func TestGoesOnWhenThereIsPower(t *testing.T) {
	d := standing(t)
	if load := d.exec.VMs.Load("a"); load != 0 {
		t.Errorf("what stands still may use %s", load)
	}
	enough := false
	var asked cluster.MilliCPU
	d.exec.Admits = func(more map[cluster.NodeID]cluster.MilliCPU) bool {
		asked = more["a"]
		return enough
	}
	d.unpause()
	d.pass(5 * time.Second)
	d.isIn(gang.Paused)
	if asked != 2000 {
		t.Errorf("the power for %s is asked for, want that for 2000", asked)
	}
	enough = true
	d.has(9, 0, "b", hypervisor.CopyPaused) // whatever a look shows that is new
	d.exec.Hint(d.now, "b")
	d.settle()
	d.isIn(gang.Resuming)
	if load := d.exec.VMs.Load("a"); load != 2000 {
		t.Errorf("on its way it may use %s, want 2000", load)
	}
}
