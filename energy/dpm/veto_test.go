package dpm_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
)

// Hosts that go off without an objection stay off while demand is the same.
func TestUnobjectedHostsStayOff(t *testing.T) {
	silent, objections := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 40))
		w := hosts(3 + rng.IntN(4))
		w.set.SpareNodes = rng.IntN(2)
		var off []cluster.NodeID
		for i := range w.c.Hosts {
			if rng.IntN(2) == 0 {
				off = append(off, w.c.Hosts[i].ID)
				continue
			}
			for range rng.IntN(6) {
				w.vm(i, cluster.MiB(rng.IntN(20))*cluster.GiB)
			}
		}
		w.pass(60, func(vm cluster.VMID) cluster.MilliCPU { return cluster.MilliCPU(500 + vm.VJob*700%1900) })
		if why := w.set.Veto(&w.c, w.levelled(), off); why != "" {
			objections++
			continue
		}
		silent++
		for i := range w.c.Hosts {
			for _, id := range off {
				if w.c.Hosts[i].ID == id {
					w.c.Hosts[i].State = dpm.Off
				}
			}
		}
		if a := w.set.Decide(&w.c, w.levelled(), rng); len(a.On) > 0 {
			t.Errorf("seed %d: %v shall be on again", seed, a.On)
		}
	}
	if silent < 50 || objections < 50 {
		t.Errorf("%d times no objection, %d times one", silent, objections)
	}
}

// Each objection has its text.
func TestObjections(t *testing.T) {
	for want, change := range map[string]func(w *world) []cluster.NodeID{
		"":                          func(*world) []cluster.NodeID { return []cluster.NodeID{"n01"} },
		"no other node would be on": func(*world) []cluster.NodeID { return []cluster.NodeID{"n00", "n01"} },
		"a job waits for capacity":  func(w *world) []cluster.NodeID { w.c.JobsWait = true; return []cluster.NodeID{"n01"} },
		"too little would be kept free": func(w *world) []cluster.NodeID {
			w.set.SpareNodes = 1
			return []cluster.NodeID{"n01"}
		},
		"demand is not known for 2h0m0s yet": func(w *world) []cluster.NodeID {
			w.set.OffWindow = 2 * time.Hour
			return []cluster.NodeID{"n01"}
		},
		"the other nodes would be too busy": func(w *world) []cluster.NodeID {
			w.set.Target = 0.3
			return []cluster.NodeID{"n01"}
		},
	} {
		w := hosts(2)
		for range 5 {
			w.vm(0, cluster.GiB)
		}
		w.pass(60, steady(1000))
		off := change(w)
		if got := w.set.Veto(&w.c, w.levelled(), off); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
