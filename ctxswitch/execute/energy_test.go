package execute_test

import (
	"math"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/hypervisor"
)

// lit is a world in which a and b draw 100 W idle and 200 W under full load, and nothing
// is known of c.
func lit(d *harness) {
	d.exec.Power = map[cluster.NodeID]energy.Power{
		"a": {Idle: 100, Full: 200, Standby: 5}, "b": {Idle: 100, Full: 200, Standby: 5},
	}
}

// drawn sums what was written: by node, and of vjobs.
func (d *harness) drawn() (nodes map[cluster.NodeID]int64, vjobs map[cluster.VJobID]int64) {
	nodes, vjobs = map[cluster.NodeID]int64{}, map[cluster.VJobID]int64{}
	for _, s := range d.steps {
		for _, n := range s.Drawn {
			nodes[n.Node] += n.Joules
		}
		for _, u := range s.Usage {
			vjobs[u.VJob] += u.Joules
		}
	}
	return nodes, vjobs
}

func near(t *testing.T, what string, got int64, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 0.02*want+5 {
		t.Errorf("%s: %d J, want %.0f J", what, got, want)
	}
}

// What a node draws is shared by those that are on it; one without any draws all the
// same, and no vjob is charged for it.
func TestEnergyIsAccounted(t *testing.T) {
	l := world(job(1, 1, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"), at(2, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	lit(d)
	d.copies["a"][1].CPU = 3000
	d.settle()
	d.pass(10*time.Minute + time.Second)
	nodes, vjobs := d.drawn()
	near(t, "node a", nodes["a"], 200*600)
	near(t, "node b", nodes["b"], 100*600)
	near(t, "vjob 1", vjobs[1], 50*600)
	near(t, "vjob 2", vjobs[2], 150*600)
	if n, known := nodes["c"]; known {
		t.Errorf("node c has drawn %d J, and nothing is known of it", n)
	}
	if r, _ := d.exec.Job(2); math.Abs(float64(r.Watts-150)) > 1e-6 {
		t.Errorf("vjob 2 draws %s", r.Watts)
	}
	if r, _ := d.exec.Node("a"); r.Watts != 200 || r.Joules != nodes["a"] {
		t.Errorf("a draws %s, and has drawn %d J of %d", r.Watts, r.Joules, nodes["a"])
	}
}

// A cap counts with what it lets through, a paused copy with nothing, and a node that is
// off with its standby power.
func TestDrawFollowsWhatIsSeen(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	l.Nodes[1].State = cluster.Offline
	d := newHarness(t, settings(), l)
	lit(d)
	d.dead["b"] = true
	d.copies["a"][0].CPU, d.copies["a"][0].Cap = 4000, 2000
	d.caps(1, 2000)
	for _, c := range []struct {
		state hypervisor.CopyState
		want  energy.Watts
	}{{hypervisor.CopyRunning, 150}, {hypervisor.CopyPaused, 100}} {
		d.copies["a"][0].State = c.state
		d.exec.Hint(d.now, "a")
		d.settle()
		if r, _ := d.exec.Node("a"); r.Watts != c.want {
			t.Errorf("a draws %s, want %s", r.Watts, c.want)
		}
		if most := d.exec.MaxPower("a", 0); most != 150 {
			t.Errorf("a may draw %s, want 150 W", most)
		}
	}
	d.copies["a"][0].State, d.copies["a"][0].Cap = hypervisor.CopyRunning, 1
	d.exec.Hint(d.now, "a")
	d.settle()
	if r, _ := d.exec.Node("a"); r.Watts != 100.025 {
		t.Errorf("under the least cap a draws %s", r.Watts)
	}
	if most := d.exec.MaxPower("a", 10_000); most != 200 {
		t.Errorf("full is %s, want 200 W", most)
	}
	if r, _ := d.exec.Node("b"); r.Watts != 5 {
		t.Errorf("b draws %s, want 5 W", r.Watts)
	}
	if most := d.exec.MaxPower("b", 1000); most != 125 {
		t.Errorf("b may draw %s once it is used, want 125 W", most)
	}
}

// A node that is declared offline, or down, while it does not answer draws its standby power
// from then on.
func TestDrawFollowsWhatIsDecreed(t *testing.T) {
	d := newHarness(t, settings(), world())
	lit(d)
	d.dead["b"] = true
	d.settle()
	for _, c := range []struct {
		state cluster.NodeState
		want  energy.Watts
	}{{cluster.Online, 100}, {cluster.Offline, 5}, {cluster.Draining, 100}, {cluster.Down, 5}} {
		d.exec.SetNode(d.now, cluster.Node{ID: "b", State: c.state, Capacity: cluster.Resources{CPU: 4000, Memory: 4096}})
		if n, _ := d.exec.Node("b"); n.Watts != c.want {
			t.Errorf("%s: it draws %s, want %s", c.state, n.Watts, c.want)
		}
	}
}

// A node that is being switched on draws for that until it answers, and is charged for it.
func TestBootingDraws(t *testing.T) {
	l := world()
	d := newHarness(t, settings(), l)
	lit(d)
	d.settle()
	d.dead["b"] = true
	d.exec.PowerStates.Set(d.now, "b", time.Minute, 0)
	d.pass(10 * time.Minute)
	if n, _ := d.exec.Node("b"); n.Watts != 5 {
		t.Errorf("off it draws %s", n.Watts)
	}
	before, _ := d.drawn()
	d.exec.PowerStates.Set(d.now, "b", time.Minute, 170)
	d.pass(10 * time.Minute)
	after, _ := d.drawn()
	near(t, "node b while it boots", after["b"]-before["b"], 170*600)
	d.dead["b"] = false
	d.pass(10 * time.Minute)
	if n, _ := d.exec.Node("b"); n.Watts != 100 {
		t.Errorf("as soon as it answers it draws %s", n.Watts)
	}
	d.exec.PowerStates.Set(d.now, "b", 0, 0)
	d.pass(10 * time.Minute)
	if n, _ := d.exec.Node("b"); n.Watts != 100 {
		t.Errorf("idle it draws %s", n.Watts)
	}
}
