package libvirt

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
)

const ms = time.Millisecond

// at is a sample so long after noon.
func at(after, used time.Duration, vcpus ...vcpuTimes) *sample {
	return &sample{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(after), used: used, vcpus: vcpus}
}

// Demand is what was used and the part of the waiting time in which the guest would have run.
func TestCPUDemand(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to *sample
		want     cluster.MilliCPU
		ok       bool
	}{
		{"idle", at(0, 0, vcpuTimes{}), at(4*time.Second, 0, vcpuTimes{}), 0, true},
		{"half of one processor, alone", at(0, 0, vcpuTimes{}), at(4*time.Second, 2*time.Second, vcpuTimes{2 * time.Second, 0}), 500, true},
		{"busy, gets half", at(0, 0, vcpuTimes{}), at(4*time.Second, 2*time.Second, vcpuTimes{2 * time.Second, 2 * time.Second}), 1000, true},
		{"busy, gets nothing", at(0, 0, vcpuTimes{}), at(4*time.Second, 0, vcpuTimes{0, 4 * time.Second}), 1000, true},
		{"runs 1 s, waits 1 s, sleeps 2 s", at(0, 0, vcpuTimes{}), at(4*time.Second, time.Second, vcpuTimes{time.Second, time.Second}), 330, true},
		{"waits for what is hardly work", at(0, 0, vcpuTimes{}), at(4*time.Second, 0, vcpuTimes{0, time.Second}), 0, true},
		{
			"two processors, one busy", at(0, 0, vcpuTimes{}, vcpuTimes{}),
			at(4*time.Second, time.Second, vcpuTimes{time.Second, 3 * time.Second}, vcpuTimes{}), 1000, true,
		},
		{
			"the emulator works as well", at(0, 0, vcpuTimes{}),
			at(4*time.Second, 3*time.Second, vcpuTimes{2 * time.Second, 2 * time.Second}), 1250, true,
		},
		{"more than the time that passed", at(0, 0, vcpuTimes{}), at(4*time.Second, 3*time.Second, vcpuTimes{3 * time.Second, 9 * time.Second}), 1000, true},
		{"ran longer than passed", at(0, 0, vcpuTimes{}), at(4*time.Second, 4*time.Second, vcpuTimes{5 * time.Second, time.Second}), 1000, true},
		{"only the difference counts", at(9*time.Second, time.Hour, vcpuTimes{time.Hour, time.Hour}), at(10*time.Second, time.Hour, vcpuTimes{time.Hour, time.Hour}), 0, true},
		{"rounded to a hundredth", at(0, 0), at(time.Second, 994*ms), 990, true},
		{"rounded up", at(0, 0), at(time.Second, 995*ms), 1000, true},
		{"without counters: what it used", at(0, 0), at(4*time.Second, 2*time.Second), 500, true},
		{"64 processors", at(0, 0), at(time.Second, 64*time.Second), 64_000, true},
		{"no time passed", at(time.Second, 0), at(time.Second, time.Second), 0, false},
		{"the clock went back", at(time.Second, 0), at(0, time.Second), 0, false},
		{"another process: CPU time went back", at(0, time.Hour, vcpuTimes{}), at(4*time.Second, time.Second, vcpuTimes{}), 0, false},
		{"run went back", at(0, 0, vcpuTimes{time.Hour, 0}), at(4*time.Second, time.Second, vcpuTimes{time.Second, 0}), 0, false},
		{"ready went back", at(0, 0, vcpuTimes{0, time.Hour}), at(4*time.Second, time.Second, vcpuTimes{time.Second, 0}), 0, false},
		{"a counter is missing now", at(0, 0, vcpuTimes{}), at(4*time.Second, time.Second), 0, false},
		{"a counter was missing", at(0, 0), at(4*time.Second, time.Second, vcpuTimes{}), 0, false},
		{"a processor more", at(0, 0, vcpuTimes{}), at(4*time.Second, time.Second, vcpuTimes{}, vcpuTimes{}), 0, false},
	} {
		if got, ok := cpuDemand(c.from, c.to); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %t; want %d, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

// Demand is at least what was used, at most one processor for each of those that run or wait, and
// grows with the waiting time.
func TestCPUDemandBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		span := time.Duration(1 + random.Int64N(int64(time.Minute)))
		var times, longer []vcpuTimes
		var used time.Duration
		for range 1 + random.IntN(4) {
			run := time.Duration(random.Int64N(int64(span) + 1))
			ready := time.Duration(random.Int64N(int64(span-run) + 1))
			used += run
			times = append(times, vcpuTimes{run, ready})
			longer = append(longer, vcpuTimes{run, ready + time.Duration(random.Int64N(int64(span)+1))})
		}
		from := at(0, 0, make([]vcpuTimes, len(times))...)
		got, ok := cpuDemand(from, at(span, used, times...))
		more, _ := cpuDemand(from, at(span, used, longer...))
		least := cluster.MilliCPU(math.Floor(float64(used)/float64(span)*100)) * 10
		if !ok || got < least || got > cluster.MilliCPU(len(times))*cluster.CPU || more < got {
			t.Fatalf("%d, then %d, of %+v in %s; used %s", got, more, times, span, used)
		}
	}
}

// Demand is measured over windows: looks in short order do not change it. It is the reservation
// before the first measurement, stays while the machine is paused, and is not measured over that
// time.
func TestMeter(t *testing.T) {
	type look struct {
		after, used, waited time.Duration // since the first
		paused              bool
		cap                 cluster.MilliCPU
		want                cluster.MilliCPU
	}
	for name, looks := range map[string][]look{
		"running":        {{want: 1500}, {after: 4 * time.Second, used: time.Second, want: 250}, {after: 8 * time.Second, used: time.Second, want: 0}},
		"crowded":        {{want: 1500}, {after: 4 * time.Second, used: time.Second, waited: 3 * time.Second, want: 1000}},
		"in short order": {{want: 1500}, {after: 3999 * ms, used: 4 * time.Second, want: 1500}, {after: 5 * time.Second, used: 4 * time.Second, want: 800}, {after: 5001 * ms, used: 4001 * ms, want: 800}},
		"paused": {
			{want: 1500},
			{after: 4 * time.Second, used: 2 * time.Second, want: 500},
			{after: 6 * time.Second, used: 2 * time.Second, paused: true, want: 500},
			{after: 60 * time.Second, used: 2 * time.Second, want: 500},
			{after: 64 * time.Second, used: 6 * time.Second, want: 1000},
		},
		"paused from before": {{paused: true, want: 1500}, {after: time.Hour, want: 1500}, {after: time.Hour + 4*time.Second, want: 0}},
		"counters are new": {
			{used: time.Hour, want: 1500},
			{after: 4 * time.Second, used: time.Hour + time.Second, want: 250},
			{after: 8 * time.Second, used: time.Second, want: 250},
			{after: 12 * time.Second, used: 3 * time.Second, want: 500},
		},
		"at its cap":                        {{cap: 400, want: 1500}, {after: 4 * time.Second, used: 1520 * ms, cap: 400, want: 1500}},
		"below its cap":                     {{cap: 400, want: 1500}, {after: 4 * time.Second, used: 1480 * ms, cap: 400, want: 370}},
		"above its share":                   {{cap: 2000, want: 1500}, {after: 4 * time.Second, used: 7800 * ms, cap: 2000, want: 1950}},
		"busy, with its emulator":           {{want: 1500}, {after: 4 * time.Second, used: 8400 * ms, want: 2000}},
		"a little less than busy":           {{want: 1500}, {after: 4 * time.Second, used: 7960 * ms, want: 1990}},
		"an emulator that does much itself": {{want: 1500}, {after: 4 * time.Second, used: 8440 * ms, want: 2110}},
		"waits for its cap":                 {{cap: 400, want: 1500}, {after: 4 * time.Second, used: 1480 * ms, waited: 2520 * ms, cap: 400, want: 1000}},
	} {
		var m meter
		for i, l := range looks {
			if l.paused {
				m.pause()
			} else {
				m.add(at(l.after, l.used, vcpuTimes{l.used, l.waited}), 1500, l.cap)
			}
			if got, _ := m.demand(1500); got != l.want {
				t.Errorf("%s, look %d: demand %d, want %d", name, i, got, l.want)
			}
		}
	}
}

// A sample is due when the machine begins to run, and again after a window.
func TestSamplesAreDue(t *testing.T) {
	var m meter
	begin := at(0, 0)
	if !m.due(begin.at) {
		t.Error("the first one is not due")
	}
	m.add(begin, 1000, 0)
	if m.due(begin.at.Add(sampleWindow-1)) || !m.due(begin.at.Add(sampleWindow)) {
		t.Error("the next one is not due after one window")
	}
	m.pause()
	if !m.due(begin.at) {
		t.Error("none is due after a pause")
	}
}

// What a guest reports of its memory counts as long as it renews the report, and does not age while
// the guest is paused.
func TestMemoryDemand(t *testing.T) {
	type look struct {
		after   time.Duration
		paused  bool
		inUse   cluster.MiB
		updated uint64
		want    cluster.MiB
	}
	for name, looks := range map[string][]look{
		"no driver":  {{}, {after: time.Hour}},
		"reports":    {{inUse: 100, updated: 1, want: 100}, {after: 10 * time.Second, inUse: 200, updated: 11, want: 200}},
		"same again": {{inUse: 100, updated: 1, want: 100}, {after: staleMemory, inUse: 100, updated: 1, want: 100}, {after: staleMemory + 1, inUse: 100, updated: 1}},
		"goes silent": {
			{inUse: 100, updated: 1, want: 100},
			{after: staleMemory, want: 100},
			{after: staleMemory + 1},
			{after: time.Hour, inUse: 50, updated: 3600, want: 50},
		},
		"paused": {
			{inUse: 100, updated: 1, want: 100},
			{after: time.Hour, paused: true, want: 100},
			{after: 2 * time.Hour, inUse: 100, updated: 1, want: 100},
			{after: 2*time.Hour + staleMemory, inUse: 100, updated: 1, want: 100},
			{after: 2*time.Hour + staleMemory + 1, inUse: 100, updated: 1},
		},
	} {
		var m meter
		for i, l := range looks {
			if l.paused {
				m.pause()
			} else {
				s := at(l.after, 0)
				s.guest = guestMemory{l.inUse, l.updated}
				m.add(s, 1000, 0)
			}
			if _, got := m.demand(1000); got != l.want {
				t.Errorf("%s, look %d: %s, want %s", name, i, got, l.want)
			}
		}
	}
}

// All but what a guest could give back is in use, rounded up to MiB.
func TestMemoryInUse(t *testing.T) {
	for _, c := range []struct {
		has, reclaimable uint64
		want             cluster.MiB
	}{{65536, 32768, 32}, {65536, 32767, 33}, {65536, 65536, 1}, {65536, 70000, 1}, {65536, 0, 64}, {0, 0, 1}} {
		if got := inUse(c.has, c.reclaimable); got != c.want {
			t.Errorf("%d KiB without %d KiB: %d MiB, want %d", c.has, c.reclaimable, got, c.want)
		}
	}
}
