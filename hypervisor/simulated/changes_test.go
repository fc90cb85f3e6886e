package simulated_test

import (
	"bytes"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/tests/pace"
)

// The changes since a snapshot, added to it, are the state of the cluster, whatever happened: no
// change escapes. Nothing looks at the nodes meanwhile: a look counts the progress of guests, which
// a saved state counts when it is restored.
func TestChangesAddUpToTheState(t *testing.T) {
	for seed := range uint64(20 / pace.Slower) {
		s := newStorm(t, seed)
		s.blind = true
		calm := seed%2 > 0
		if calm {
			s.cfg.Faults = simulated.Rates{}
			s.c = simulated.New(s.cfg)
		}
		var saved [][]byte
		for i := range 300 {
			s.step()
			if s.rng.IntN(50) == 0 {
				s.c.Sweep(s.now, func(id cluster.VJobID) bool { return id == 1 }, 0)
			}
			f := simulated.Fault{
				Kind: simulated.FaultKind(s.rng.IntN(int(simulated.HalfLeft) + 1)), Node: s.node(), VM: vm(1+s.rng.IntN(3), 0),
				For: time.Duration(1 + s.rng.IntN(int(20*time.Second))),
			}
			if s.rng.IntN(5) == 0 && !calm {
				_ = s.c.Inject(s.now, f) // some have no guest or image
			}
			if _, err := s.c.SwitchPower(s.now, s.node(), power.TurnOn); err != nil {
				t.Fatal(err)
			}
			s.advance(time.Duration(s.rng.IntN(int(time.Second))))
			if s.rng.IntN(8) == 0 {
				s.advance(time.Duration(s.rng.IntN(int(time.Minute))))
			}
			changes, err := s.c.Changes()
			if err != nil {
				t.Fatal(err)
			}
			saved = append(saved, changes)
			if i%17 > 0 {
				continue
			}
			restored, err := simulated.Restore(s.cfg, saved...)
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			}
			if want, got := snapshotOf(t, s.c), snapshotOf(t, restored); !bytes.Equal(want, got) {
				t.Fatalf("seed %d, step %d: restored\n%s\nwant\n%s", seed, i, got, want)
			}
		}
	}
}

func snapshotOf(t *testing.T, c *simulated.Cluster) []byte {
	t.Helper()
	data, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What is saved for a boot and a stop has the same size whatever else is on the cluster.
func TestChangesAreSmall(t *testing.T) {
	size := func(others int) (sum int) {
		b := newManualCluster(t, nil)
		for i := range others {
			b.do(booting(vm(1000+i, 0), "n1"), nil)
			b.do(call(hypervisor.Destroy, vm(1000+i, 0), "n1"), nil)
		}
		changes := func() int {
			data, err := b.Changes()
			if err != nil {
				t.Fatal(err)
			}
			return len(data)
		}
		changes()
		b.do(booting(vm(1, 0), "n1"), nil)
		sum += changes()
		b.do(call(hypervisor.Destroy, vm(1, 0), "n1"), nil)
		return sum + changes()
	}
	few, many := size(10), size(1000)
	t.Logf("%d and %d bytes", few, many)
	if many > few+100 { // numbers have more digits
		t.Errorf("a boot and a stop take %d bytes after 10 VMs, and %d after 1,000", few, many)
	}
}
