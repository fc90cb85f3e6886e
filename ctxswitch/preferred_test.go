package ctxswitch_test

import (
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// crowded has nodes n1 and n2 of 1 CPU and n3 of 4, and vjobs of one VM of 1 CPU that wait.
func crowded(vjobs cluster.VJobID, rules ...string) ctxswitch.Problem {
	c := cluster.NewConfiguration()
	for id, cpu := range map[cluster.NodeID]cluster.MilliCPU{"n1": 1000, "n2": 1000, "n3": 4000} {
		c.SetNode(cluster.Node{ID: id, Capacity: cluster.Resources{CPU: cpu, Memory: 8192}})
	}
	p := ctxswitch.Problem{Current: c, Costs: ctxswitch.RepackingCosts}
	for id := range vjobs {
		c.SetWaiting(cluster.VMID{VJob: id + 1}, cluster.Resources{CPU: 1000, Memory: 512})
		p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: id + 1, Want: cluster.VMRunning})
	}
	for _, text := range rules {
		p.Rules = append(p.Rules, placement.Rules{Text: text})
	}
	return p
}

func TestPreferredRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		vjobs   cluster.VJobID
		rule    string
		on3     int    // VMs on n3
		dropped string // part of the text
		fails   bool
	}{
		{"kept while it can be", 2, "preferred ban($ALL_VMS, n3);", 0, "", false},
		{"dropped where nodes would be over-full", 3, "preferred ban($ALL_VMS, n3);", 1, "preferred ban", false},
		{"as much kept as possible", 4, "preferred ban($ALL_VMS, n3);", 2, "ends on node n3", false},
		{"a mandatory rule is never broken", 3, "mandatory ban($ALL_VMS, n3);", 0, "", true},
		{"mandatory is the default", 3, "ban($ALL_VMS, n3);", 0, "", true},
		{"dropped for a mandatory rule", 2, "fence($ALL_VMS, n3); preferred ban($ALL_VMS, n3);", 2, "preferred ban", false},
		{"kept beside another that is dropped", 2, "preferred fence($ALL_VMS, {n1, n2}); preferred gather($ALL_VMS);", -1, "preferred", false},
	} {
		p := crowded(c.vjobs, c.rule)
		plan, err := ctxswitch.Repacker{}.Plan(p)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil {
			continue
		}
		if faults := ctxswitch.Check(p, plan); len(faults) > 0 {
			t.Errorf("%s: %q", c.name, faults)
		}
		if n := len(plan.Target.On("n3")); c.on3 >= 0 && n != c.on3 {
			t.Errorf("%s: %d VMs on n3, want %d", c.name, n, c.on3)
		}
		if c.dropped == "" && len(plan.Dropped) > 0 || c.dropped != "" && (len(plan.Dropped) != 1 || !strings.Contains(plan.Dropped[0].String(), c.dropped)) {
			t.Errorf("%s: dropped %q, want %q", c.name, plan.Dropped, c.dropped)
		}
		if len(plan.Dropped) > 0 {
			t.Logf("%s: %s", c.name, plan.Dropped[0])
		}
	}
}

// A plan that breaks a preferred rule has to say so.
func TestCheckFindsUntoldDrops(t *testing.T) {
	t.Parallel()
	p := crowded(3, "preferred ban($ALL_VMS, n3);")
	plan, err := ctxswitch.Repacker{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	plan.Dropped = nil
	if faults := ctxswitch.Check(p, plan); len(faults) == 0 || !strings.Contains(faults[0], "preferred ban") {
		t.Errorf("%q", faults)
	}
}

// A preferred rule keeps no vjob waiting, and VMs that break it are moved when they can be.
func TestPreferredRulesOfRunningVMs(t *testing.T) {
	t.Parallel()
	p := crowded(3, "preferred ban($ALL_VMS, n3);")
	room := ctxswitch.NewPacking(ctxswitch.PackingInput{Current: p.Current, Rules: p.Rules, Needs: map[cluster.VMID]cluster.Resources{
		{VJob: 1}: {CPU: 1000, Memory: 512}, {VJob: 2}: {CPU: 1000, Memory: 512}, {VJob: 3}: {CPU: 1000, Memory: 512},
	}})
	for id := range cluster.VJobID(3) {
		if ok, short := room.Take(id + 1); !ok {
			t.Errorf("vjob %d waits: %s", id+1, short)
		}
	}
	p = crowded(0, "preferred ban($ALL_VMS, n3);")
	vm := cluster.VMID{VJob: 1}
	p.Current.SetRunning(vm, cluster.Resources{CPU: 1000, Memory: 512}, "n3")
	p.Gangs = []ctxswitch.Goal{{VJob: 1, Want: cluster.VMRunning}}
	p.Live = map[cluster.VMID]bool{vm: true}
	if breaches := ctxswitch.Breaches(p); len(breaches) != 1 {
		t.Errorf("breaches %q", breaches)
	}
	plan, err := ctxswitch.Repacker{}.Plan(p)
	if err != nil || plan.Target.Place(vm) == "n3" {
		t.Errorf("%v: the VM stays on n3", err)
	}
}
