package repack_test

import (
	"strings"
	"testing"

	"vjob/repack"
)

// wired has three nodes with NICs of 10, the last one in a rack of its own with an
// uplink of 6, and two VMs on the first of which 30 must be copied.
func wired() *repack.Instance {
	in := cluster()
	in.VMs = in.VMs[:2]
	for n := range in.Nodes {
		in.Nodes[n] = repack.Node{Capacity: []int64{10, 100}, Rack: n / 2}
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		v.State, v.Host, v.Memory, v.Takes.Migrate = repack.Running, 0, 30, 2
	}
	in.Network = &repack.Network{NIC: []int64{10, 10, 10}, Uplink: []int64{0, 6}}
	return in
}

func send(vm, to int, start, end repack.Ticks, rate int64) repack.Action {
	return repack.Action{Kind: repack.Migrate, VM: vm, From: 0, To: to, Start: start, End: end, Rate: rate}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(in *repack.Instance)
		actions []repack.Action
		want    string
	}{
		{"one after the other", nil, []repack.Action{send(a, 1, 0, 3, 10), send(b, 1, 3, 6, 10)}, ""},
		{"side by side", nil, []repack.Action{send(a, 1, 0, 6, 5), send(b, 1, 0, 6, 5)}, ""},
		{"too short", nil, []repack.Action{send(a, 1, 0, 5, 5)}, "VM a: migrate lasts 5, needs 6"},
		{"no shorter than without links", func(in *repack.Instance) { in.VMs[a].Memory = 1 }, []repack.Action{send(a, 1, 0, 1, 10)}, "VM a: migrate lasts 1, needs 2"},
		{"no rate", nil, []repack.Action{send(a, 1, 0, 5, 0)}, "VM a: migrate from node 0 to node 1 never ends at a rate of 0"},
		{"a rate below nothing", nil, []repack.Action{send(a, 1, 0, 5, -1)}, "VM a: migrate from node 0 to node 1 never ends at a rate of -1\nVM a: migrate at a rate of -1"},
		{"written again as fast", func(in *repack.Instance) { in.VMs[a].Dirty = 5 }, []repack.Action{send(a, 1, 0, 50, 5)}, "VM a: migrate from node 0 to node 1 never ends at a rate of 5"},
		{"written again", func(in *repack.Instance) { in.VMs[a].Dirty = 4 }, []repack.Action{send(a, 1, 0, 4, 10)}, "VM a: migrate lasts 4, needs 5"},
		{"paused, it writes nothing", func(in *repack.Instance) { in.VMs[a].Dirty, in.VMs[a].Paused = 4, true }, []repack.Action{send(a, 1, 0, 3, 10)}, ""},
		{"too much for a NIC", nil, []repack.Action{send(a, 1, 0, 3, 10), send(b, 2, 2, 12, 3)}, "the NIC out of node 0 carries 13 of 10 at 2"},
		{"too much for an uplink", nil, []repack.Action{send(a, 2, 0, 5, 7)}, "the uplink in to rack 1 carries 7 of 6 at 0"},
		{"nothing to copy", func(in *repack.Instance) { in.VMs[a].Memory = 0 }, []repack.Action{send(a, 2, 0, 2, 0)}, ""},
		{"no limit", func(in *repack.Instance) { in.Network = &repack.Network{} }, []repack.Action{send(a, 2, 0, 2, 0)}, ""},
		{"the plain model", func(in *repack.Instance) { in.Network = nil }, []repack.Action{send(a, 2, 0, 2, 0), send(b, 2, 0, 2, 0)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := wired()
			if tt.change != nil {
				tt.change(in)
			}
			if err := in.Validate(); err != nil {
				t.Fatal(err)
			}
			report, err := repack.Check(in, &repack.Plan{Actions: tt.actions})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(report.Faults, "\n"); got != tt.want {
				t.Errorf("got\n%s\nmust be\n%s", got, tt.want)
			}
		})
	}
}

// An image is copied when it is resumed elsewhere, and not where it lies.
func TestRemoteResumes(t *testing.T) {
	in := wired()
	in.VMs[a].State, in.VMs[a].Dirty = repack.Sleeping, 99
	plan := func(to int, end repack.Ticks, rate int64) *repack.Plan {
		return &repack.Plan{Actions: []repack.Action{{Kind: repack.Resume, VM: a, From: 0, To: to, End: end, Rate: rate}}}
	}
	for _, tt := range []struct {
		plan *repack.Plan
		want string
	}{
		{plan(0, 5, 0), ""},
		{plan(1, 6, 5), ""},
		{plan(1, 6, 4), "VM a: resume lasts 6, needs 8"},
	} {
		report, err := repack.Check(in, tt.plan)
		if got := strings.Join(report.Faults, "\n"); err != nil || got != tt.want {
			t.Errorf("got %q, %v, must be %q", got, err, tt.want)
		}
	}
}

// The closed form of a transfer is the limit of its rounds, and the least rate for a
// time is the least.
func TestTransfer(t *testing.T) {
	for amount := int64(1); amount < 40; amount++ {
		for dirty := range int64(5) {
			tr := repack.Transfer{Amount: amount, Dirty: dirty, Base: 2}
			for rate := dirty + 1; rate < 12; rate++ {
				last := tr.Lasts(rate)
				if sent := rounds(float64(amount), float64(dirty), float64(rate)); float64(last) < sent-1e-6 || last > 2 && float64(last) >= sent+1+1e-6 {
					t.Fatalf("%+v at %d lasts %d, its rounds %f", tr, rate, last, sent)
				}
				if least := tr.Rate(last); tr.Lasts(least) != last || least > 1+dirty && tr.Lasts(least-1) <= last {
					t.Fatalf("%+v: rate %d for %d", tr, least, last)
				}
			}
			if tr.Lasts(dirty) != repack.Forever {
				t.Fatalf("%+v ends", tr)
			}
		}
	}
}

// rounds is how long pre-copy takes, round by round until next to nothing is left.
func rounds(amount, dirty, rate float64) (sum float64) {
	for ; amount > 1e-9; amount = amount / rate * dirty {
		sum += amount / rate
	}
	return sum
}

func TestNoNetwork(t *testing.T) {
	for want, change := range map[string]func(in *repack.Instance){
		"4 NICs for 3 nodes":                                 func(in *repack.Instance) { in.Network.NIC = make([]int64, 4) },
		"the NIC out of node 1: bandwidth -1":                func(in *repack.Instance) { in.Network.NIC[1] = -1 },
		"the uplink out of rack 1: bandwidth -5":             func(in *repack.Instance) { in.Network.Uplink[1] = -5 },
		"node 2: in rack -1":                                 func(in *repack.Instance) { in.Nodes[2].Rack = -1 },
		"VM a: -3 of memory to copy, 0 of it again per tick": func(in *repack.Instance) { in.VMs[a].Memory = -3 },
	} {
		in := wired()
		change(in)
		if err := in.Validate(); err == nil || err.Error() != want {
			t.Errorf("got %v, must be %s", err, want)
		}
	}
}
