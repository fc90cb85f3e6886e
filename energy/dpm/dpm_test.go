package dpm_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/dpm"
)

// The scores are those of eq. 5 and 6, computed by the book.
func TestScores(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	for range 50 {
		w := hosts(1 + chance.IntN(4))
		for range chance.IntN(12) {
			w.vm(chance.IntN(len(w.c.Hosts)), cluster.MiB(1+chance.IntN(40_000)))
		}
		w.pass(1+chance.IntN(90), func(cluster.VMID) cluster.MilliCPU { return cluster.MilliCPU(chance.IntN(6000)) })
		var want dpm.Scores
		for _, h := range w.c.Hosts {
			memory := cluster.MiB(0)
			for vm, at := range w.c.Where {
				if at == h.ID {
					memory += w.c.Memory[vm]
				}
			}
			share := float64(memory) / float64(h.Capacity.Memory)
			above := func(u float64) float64 { return math.Pow(max(0, u-0.81), 2) }
			below := func(u float64) float64 { return math.Pow(max(0, 0.45-u), 2) }
			want.High.CPU += above(w.naive(h.ID, 5))
			want.High.Memory += above(share)
			want.Low.CPU += below(w.naive(h.ID, 40))
			want.Low.Memory += below(share)
		}
		got := w.set.Scores(&w.c, w.all(), w.c.Where)
		for _, pair := range [][2]float64{
			{got.High.CPU, want.High.CPU}, {got.High.Memory, want.High.Memory}, {got.Low.CPU, want.Low.CPU}, {got.Low.Memory, want.Low.Memory},
		} {
			if math.Abs(pair[0]-math.Sqrt(pair[1])) > 1e-6 {
				t.Fatalf("got %+v, the squares should be %+v", got, want)
			}
		}
	}
}

func TestIdleHostsGoOffSlowlyAndComeOnQuickly(t *testing.T) {
	w := hosts(4)
	for i := range 8 {
		w.vm(i%4, cluster.GiB)
	}
	w.pass(39, steady(500))
	if a := w.decide(); len(a.Off) > 0 || a.Why == "" {
		t.Fatalf("after 39 minutes: %+v", a)
	}
	a := w.pass(2, steady(500)).decide()
	if len(a.Off) != 3 || len(a.On) > 0 {
		t.Fatalf("with 4 processors needed of 40 for 41 minutes: %+v", a)
	}
	for i := range w.c.Hosts[1:] {
		w.c.Hosts[i+1].State = dpm.Off
	}
	for vm := range w.c.Where {
		w.c.Where[vm] = "n00"
	}
	w.pass(20, steady(500)) // the host is at 40 %
	if a := w.decide(); len(a.On)+len(a.Off) > 0 {
		t.Fatalf("a host at 40 %% alone: %+v", a)
	}
	a = w.pass(3, steady(1800)).decide() // 144 %, and by mean and deviations twice as much as there is
	if len(a.On) != 2 {
		t.Fatalf("three minutes after the surge: %+v", a)
	}
}

// One busy resource of one host is enough to switch hosts on; for off both resources must be
// idle somewhere.
func TestWhichScoresCount(t *testing.T) {
	w := hosts(4)
	w.c.Hosts[3].State = dpm.Off
	w.vm(0, 90*cluster.GiB)
	for i := range 3 {
		w.vm(i, cluster.GiB)
	}
	w.pass(60, steady(100))
	w.c.Memory[cluster.VMID{VJob: 2}] = 5 * cluster.GiB
	a := w.set.Decide(&w.c, stay, rand.New(rand.NewPCG(1, 1)))
	if a.Scores.High.Memory == 0 || a.Scores.High.CPU > 0 || len(a.Off) > 0 {
		t.Errorf("one host is full: %+v", a)
	}
	if len(a.On) > 0 {
		t.Errorf("a host that nothing moves to is no help: %+v", a.On)
	}

	w = hosts(3)
	for i := range 3 {
		w.vm(i, 60*cluster.GiB)
	}
	if a := w.pass(60, steady(100)).decide(); len(a.Off) > 0 || a.Scores.Low.CPU == 0 {
		t.Errorf("memory is in its range: %+v", a)
	}
}

func TestOrderOfSwitching(t *testing.T) {
	w := hosts(3)
	w.c.Hosts[0].Capacity.CPU = 20 * cluster.CPU
	w.c.Hosts[2].Capacity.CPU = 5 * cluster.CPU
	w.vm(0, cluster.GiB)
	w.pass(60, steady(4000))
	if a := w.decide(); len(a.Off) == 0 || a.Off[0].Host != "n02" {
		t.Errorf("the smallest goes off first: %+v", a)
	}
	w = hosts(3)
	w.vm(0, 20*cluster.GiB)
	w.vm(1, 2*cluster.GiB)
	w.vm(2, 10*cluster.GiB)
	w.pass(60, steady(1000))
	if a := w.decide(); len(a.Off) == 0 || a.Off[0].Host != "n01" {
		t.Errorf("of equal ones the one with the least to move goes off first: %+v", a)
	}
	w = hosts(4)
	for i := range 3 {
		w.c.Hosts[i+1].State = dpm.Off
		w.c.Hosts[i+1].Capacity.CPU = cluster.MilliCPU([]int{10, 12, 11}[i]) * cluster.CPU
	}
	for range 20 {
		w.vm(0, cluster.GiB)
	}
	w.pass(60, steady(1000)) // 20 processors: 31 are wanted at least, and 25 would be full
	if a := w.decide(); len(a.On) != 2 || a.On[0].Host != "n02" {
		t.Errorf("the largest comes on first: %+v", a)
	}
}

// idle is a world in which hosts should go off.
func idle() *world {
	w := hosts(4)
	for i := range 4 {
		w.vm(i, cluster.GiB)
	}
	return w.pass(60, steady(500))
}

func TestWhatKeepsHostsOn(t *testing.T) {
	if a := idle().decide(); len(a.Off) != 3 {
		t.Fatalf("nothing keeps them: %+v", a)
	}
	for name, c := range map[string]struct {
		change func(w *world)
		off    int
	}{
		"a job waits":            {func(w *world) { w.c.JobsWait = true }, 0},
		"two have just come up":  {func(w *world) { w.c.Hosts[0].Since, w.c.Hosts[1].Since = w.c.Now, w.c.Now.Add(-19*time.Minute) }, 2},
		"fixed ones":             {func(w *world) { w.c.Hosts[1].FixedReason, w.c.Hosts[2].FixedReason = "has no driver", "is drained" }, 2},
		"one node spare":         {func(w *world) { w.set.SpareNodes = 1 }, 2},
		"half the cluster spare": {func(w *world) { w.set.SpareShare = 0.5 }, 1},
		"a slow network":         {func(w *world) { w.set.Rate = 0.5 }, 0},
		"a slow boot":            {func(w *world) { w.slowly(0, time.Hour) }, 0},
		"VMs that cannot move":   {func(w *world) { w.c.Memory[cluster.VMID{VJob: 1}] = 200 * cluster.GiB }, 0},
	} {
		w := idle()
		c.change(w)
		if a := w.decide(); len(a.Off) != c.off {
			t.Errorf("%s: %d go off, want %d: %+v", name, len(a.Off), c.off, a)
		}
	}
}

// slowly gives every host a time to boot and to shut down.
func (w *world) slowly(boot, shut time.Duration) {
	for i := range w.c.Hosts {
		w.c.Hosts[i].Power = energy.Power{On: energy.Switch{Time: boot}, Off: energy.Switch{Time: shut}}
	}
}

// After a surge within the hour the worst demand is high, and missing capacity while a
// host boots outweighs what it saves; with a factor of 0 it does not.
func TestTheRiskIsWeighed(t *testing.T) {
	w := hosts(2)
	for i := range 8 {
		w.vm(i%2, cluster.GiB)
	}
	w.pass(12, steady(2200)).pass(48, steady(300))
	w.slowly(5*time.Minute, time.Minute)
	if a := w.decide(); len(a.Off) > 0 {
		t.Errorf("48 minutes after a surge: %+v", a)
	}
	w.set.Factor = 0
	if a := w.decide(); len(a.Off) != 1 {
		t.Errorf("if costs do not count: %+v", a)
	}
	w.set.Factor = dpm.Default.Factor
	if a := w.pass(30, steady(300)).decide(); len(a.Off) != 1 {
		t.Errorf("when the surge is forgotten: %+v", a)
	}
}

// The demand of departed VMs counts on their host for a while.
func TestDepartedDemandCounts(t *testing.T) {
	w := hosts(2)
	for i := range 12 {
		w.vm(i%2, cluster.GiB)
	}
	w.pass(60, steady(1000)) // 60 %
	clear(w.c.Where)
	if a := w.pass(5, steady(0)).decide(); len(a.Off) > 0 {
		t.Errorf("five minutes after all have ended: %+v", a)
	}
	if a := w.pass(60, steady(0)).decide(); len(a.Off) != 1 {
		t.Errorf("an hour after that, one stays on: %+v", a)
	}
}

// In random clusters: no fixed host is switched, a host stays on, the VMs fit, and the same
// random numbers give the same advice.
func TestDecisions(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	offs, ons := 0, 0
	for i := range uint64(150) {
		chance := rand.New(rand.NewPCG(seed, i))
		w := random(chance)
		a := w.decide()
		if again := w.decide(); !reflect.DeepEqual(a, again) {
			t.Fatalf("case %d: %+v, and then %+v", i, a, again)
		}
		offs, ons = offs+len(a.Off), ons+len(a.On)
		on := []cluster.NodeID{}
		for _, h := range w.c.Hosts {
			goes := slices.ContainsFunc(a.Off, func(c dpm.Change) bool { return c.Host == h.ID })
			comes := slices.ContainsFunc(a.On, func(c dpm.Change) bool { return c.Host == h.ID })
			if (goes || comes) && h.FixedReason != "" || goes && h.State != dpm.On || comes && h.State != dpm.Off ||
				goes && w.c.Now.Sub(h.Since) < w.set.MinOn || goes && w.c.JobsWait {
				t.Fatalf("case %d: %+v is switched: %+v", i, h, a)
			}
			if h.State != dpm.Off && !goes || comes {
				on = append(on, h.ID)
			}
		}
		before, _ := w.levelled()(on, w.c.Where)
		if len(a.Off) > 0 && (len(on) == 0 || before == nil) {
			t.Fatalf("case %d: nothing is left for the VMs: %+v", i, a)
		}
		if len(a.Off) > 0 && len(a.On) > 0 {
			t.Fatalf("case %d: off and on at once: %+v", i, a)
		}
	}
	if offs == 0 || ons == 0 {
		t.Errorf("%d off, %d on: the test is blind", offs, ons)
	}
}

// random is a world with everything in it.
func random(chance *rand.Rand) *world {
	w := hosts(1 + chance.IntN(6))
	for i := range w.c.Hosts {
		h := &w.c.Hosts[i]
		h.Capacity.CPU = cluster.MilliCPU(4+chance.IntN(12)) * cluster.CPU
		if i > 0 {
			h.State = dpm.PowerState(chance.IntN(3))
		}
		if chance.IntN(5) == 0 {
			h.FixedReason = "chance"
		}
		if chance.IntN(4) == 0 {
			h.Since = start.Add(time.Hour)
		}
	}
	w.c.JobsWait = chance.IntN(4) == 0
	w.set.SpareNodes = chance.IntN(2)
	level := 200 + chance.IntN(1200)
	for range chance.IntN(20) {
		host := chance.IntN(len(w.c.Hosts))
		if w.c.Hosts[host].State == dpm.On {
			w.vm(host, cluster.MiB(1+chance.IntN(8000)))
		}
	}
	return w.pass(30+chance.IntN(60), func(cluster.VMID) cluster.MilliCPU { return cluster.MilliCPU(level + chance.IntN(400)) })
}

func TestBadSettings(t *testing.T) {
	if err := dpm.Default.Check(); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for field, changes := range map[string][]func(s *dpm.Settings){
		"target":      {func(s *dpm.Settings) { s.Target = 0 }, func(s *dpm.Settings) { s.Target = nan }, func(s *dpm.Settings) { s.Target = 63 }},
		"tolerance":   {func(s *dpm.Settings) { s.Tolerance = 0.4 }, func(s *dpm.Settings) { s.Tolerance = nan }, func(s *dpm.Settings) { s.Tolerance = -1 }},
		"on_window":   {func(s *dpm.Settings) { s.OnWindow = 0 }, func(s *dpm.Settings) { s.OnWindow = time.Hour }},
		"off_window":  {func(s *dpm.Settings) { s.OffWindow = 2 * time.Hour }},
		"factor":      {func(s *dpm.Settings) { s.Factor = -1 }, func(s *dpm.Settings) { s.Factor = nan }},
		"min_on":      {func(s *dpm.Settings) { s.MinOn = -1 }},
		"spare_nodes": {func(s *dpm.Settings) { s.SpareNodes = -1 }},
		"spare_share": {func(s *dpm.Settings) { s.SpareShare = 1 }, func(s *dpm.Settings) { s.SpareShare = nan }},
		"rate":        {func(s *dpm.Settings) { s.Rate = 0 }},
	} {
		for i, change := range changes {
			s := dpm.Default
			change(&s)
			err := s.Check()
			var bad *cluster.FieldError
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s, %d: %v", field, i, err)
			}
		}
	}
}

// A cluster without hosts or VMs is valid.
func TestEmpty(t *testing.T) {
	if a := hosts(0).decide(); len(a.On)+len(a.Off) > 0 {
		t.Errorf("%+v", a)
	}
	if a := hosts(1).pass(60, steady(0)).decide(); len(a.On)+len(a.Off) > 0 {
		t.Errorf("the only host: %+v", a)
	}
}
