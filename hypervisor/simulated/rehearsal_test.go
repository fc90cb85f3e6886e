package simulated_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// Rehearsals begin and end on time, at any speed and in any order of the settings.
func TestRehearsal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settings()
		s.Rehearsals = []simulated.Rehearsal{
			{Node: "n2", Kind: simulated.Partition, After: 3 * time.Minute, Lasts: time.Minute},
			{Node: "n1", Kind: simulated.PowerLoss, After: time.Minute, Lasts: 2 * time.Minute},
		}
		d := open(t, s)
		do(t, d, booting(vm(1, 0), "n1"))
		do(t, d, booting(vm(1, 1), "n2"))
		began := time.Now()
		for _, c := range []struct {
			at     time.Duration
			silent string
			copies int // on the nodes that answer
		}{{0, "", 2}, {61 * time.Second, "n1", 1}, {179 * time.Second, "n1", 1}, {181 * time.Second, "n2", 0}, {241 * time.Second, "", 1}} {
			time.Sleep(c.at - time.Since(began))
			silent, copies := "", 0
			for _, n := range []cluster.NodeID{"n1", "n2"} {
				v, err := d.Look(t.Context(), n)
				if errors.Is(err, hypervisor.ErrUnreachable) {
					silent += string(n)
				}
				copies += len(v.Copies)
			}
			if silent != c.silent || copies != c.copies {
				t.Errorf("after %s %q is silent, and there are %d copies; want %q and %d", c.at, silent, copies, c.silent, c.copies)
			}
		}
		closing(t, d)
	})
}

func TestInvalidRehearsals(t *testing.T) {
	for want, r := range map[string]simulated.Rehearsal{
		"rehearsals[0].node": {Node: "n9", Kind: simulated.Freeze},
		"rehearsals[0].kind": {Node: "n1", Kind: simulated.CallFails},
	} {
		s := settings()
		s.Rehearsals = []simulated.Rehearsal{r}
		if _, err := simulated.Open(s); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want one of %s", r, err, want)
		}
	}
}

func TestFaultNamed(t *testing.T) {
	for k := simulated.PowerLoss; k <= simulated.BootFails; k++ {
		if got, err := simulated.FaultNamed(k.String()); got != k || err != nil {
			t.Errorf("%s: %s, %v", k, got, err)
		}
	}
	if _, err := simulated.FaultNamed("fire"); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "power-loss, freeze") {
		t.Error(err)
	}
}
