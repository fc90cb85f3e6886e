package execute_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/journal"
)

// standing has vjob 1, of two members of 1 CPU and 1 GiB, stand still on a, which has 4
// CPU and 4 GiB, beside others.
func standing(t *testing.T, others ...*cluster.VJob) *desk {
	t.Helper()
	l := world(append([]*cluster.VJob{job(1, 2, cluster.Paused)}, others...)...)
	l.Gangs = append(l.Gangs, at(1, gang.Paused, "a", "a"))
	for _, j := range others {
		if j.State == cluster.Running {
			l.Gangs = append(l.Gangs, at(j.ID, gang.Active, "a"))
		}
	}
	d := sit(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "a", hypervisor.CopyPaused)
	d.settle()
	return d
}

// unpause begins a plan that lets vjob 1 go on.
func (d *desk) unpause() {
	d.adopt([]ctxGang{group(cluster.Unpause, 1, 0, 1)},
		act(cluster.Unpause, 1, 0, "a", "a"), act(cluster.Unpause, 1, 1, "a", "a"))
}

// large is a vjob of one member with so much CPU.
func large(id cluster.VJobID, cpu cluster.MilliCPU, state cluster.State) *cluster.VJob {
	j := job(id, 1, state)
	j.VMs[0].Reserved.CPU = cpu
	return j
}

// What stands still uses memory and no CPU: who needs all of the CPU comes, who needs
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

// Who has come to need more CPU than the node has goes on with all of it, and not with less:
// waiting longer would not give it more.
func TestGoesOnWithWhatTheNodeHas(t *testing.T) {
	for _, c := range []struct {
		beside cluster.MilliCPU
		want   gang.Phase
	}{{0, gang.Resuming}, {1000, gang.Paused}} {
		l := world(job(1, 2, cluster.Paused), large(9, c.beside, cluster.Running))
		l.VJobs[0].VMs[0].Reserved.CPU = 4500
		l.Gangs = append(l.Gangs, at(1, gang.Paused, "a", "a"), at(9, gang.Active, "a"))
		d := sit(t, settings(), l)
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.has(1, 1, "a", hypervisor.CopyPaused)
		d.settle()
		d.unpause()
		d.isIn(c.want)
	}
}

// When there is none for too long, its plan is given up, and it goes on standing.
func TestStandsWhenThereIsNoCPU(t *testing.T) {
	d := standing(t, large(9, 3000, cluster.Running))
	d.unpause()
	d.pass(settings().Patience + time.Second)
	d.isIn(gang.Paused)
	if r, _ := d.exec.Job(1); !r.Idle || r.Failures != 1 || !strings.Contains(r.Why, "no CPU or power to go on") {
		t.Errorf("idle %t, %d failures: %s", r.Idle, r.Failures, r.Why)
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
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, "deleted"); err != nil {
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
	if load := d.exec.Load("a"); load != 0 {
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
	d.pass(5 * time.Second)
	d.isIn(gang.Resuming)
	if load := d.exec.Load("a"); load != 2000 {
		t.Errorf("on its way it may use %s, want 2000", load)
	}
}
