//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A sample has what libvirt tells. Without the waiting times of all processors it has none of them.
func TestSamples(t *testing.T) {
	vcpu := func(run, wait, delay time.Duration) libvirt.DomainStatsVcpu {
		return libvirt.DomainStatsVcpu{
			TimeSet: true, Time: uint64(run), WaitSet: wait >= 0, Wait: uint64(max(0, wait)), DelaySet: delay >= 0, Delay: uint64(max(0, delay)),
		}
	}
	const s = time.Second
	for _, c := range []struct {
		name    string
		vcpus   []libvirt.DomainStatsVcpu
		balloon *libvirt.DomainStatsBalloon
		want    sample
	}{
		{name: "nothing beside CPU time"},
		{name: "libvirt 7.2", vcpus: []libvirt.DomainStatsVcpu{vcpu(3*s, 0, 2*s)}, want: sample{vcpus: []vcpuTimes{{3 * s, 2 * s}}}},
		{name: "an older libvirt, with sched_schedstats", vcpus: []libvirt.DomainStatsVcpu{vcpu(3*s, 2*s, -1)}, want: sample{vcpus: []vcpuTimes{{3 * s, 2 * s}}}},
		{name: "an older libvirt, without", vcpus: []libvirt.DomainStatsVcpu{vcpu(3*s, 0, -1)}},
		{name: "the oldest libvirt", vcpus: []libvirt.DomainStatsVcpu{vcpu(3*s, -1, -1)}},
		{name: "a kernel that does not count", vcpus: []libvirt.DomainStatsVcpu{vcpu(3*s, 0, 0)}},
		{name: "it has not run", vcpus: []libvirt.DomainStatsVcpu{vcpu(0, 0, 0)}, want: sample{vcpus: []vcpuTimes{{}}}},
		{name: "one is switched off", vcpus: []libvirt.DomainStatsVcpu{{}, vcpu(s, 0, s)}, want: sample{vcpus: []vcpuTimes{{s, s}}}},
		{name: "of one it is not told", vcpus: []libvirt.DomainStatsVcpu{vcpu(s, 0, s), vcpu(s, -1, -1), vcpu(s, 0, s)}},
		{
			name:    "a driver that tells what it could give back",
			balloon: &libvirt.DomainStatsBalloon{CurrentSet: true, Current: 65536, UsableSet: true, Usable: 49152, UnusedSet: true, Unused: 1024, LastUpdate: 7},
			want:    sample{guest: guestMemory{16, 7}},
		},
		{
			name:    "an older driver",
			balloon: &libvirt.DomainStatsBalloon{CurrentSet: true, Current: 65536, UnusedSet: true, Unused: 1024, LastUpdate: 7},
			want:    sample{guest: guestMemory{63, 7}},
		},
		{name: "no driver", balloon: &libvirt.DomainStatsBalloon{CurrentSet: true, Current: 65536}},
		{name: "never", balloon: &libvirt.DomainStatsBalloon{CurrentSet: true, Current: 65536, UsableSet: true, Usable: 49152}},
		{name: "a driver without memory", balloon: &libvirt.DomainStatsBalloon{CurrentSet: true, Current: 65536, LastUpdate: 7}},
	} {
		c.want.at, c.want.used = noon, 5*time.Second
		stats := libvirt.DomainStats{Cpu: &libvirt.DomainStatsCPU{Time: uint64(5 * time.Second)}, Vcpu: c.vcpus, Balloon: c.balloon}
		if got := newSample(&stats, noon); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
	}
}

// A host that does not tell how long processors wait has a warning, until it does.
func TestHiddenContention(t *testing.T) {
	c := newCache()
	look := func(s *sample) (cluster.MilliCPU, bool) {
		m := listedMachine{uuid: "a", id: 7, identity: ourMachine, sample: s}
		c.recordListed(&m, noon)
		return m.copy.CPU, c.contentionHidden()
	}
	for i, step := range []struct {
		sample *sample
		want   cluster.MilliCPU
		hidden bool
	}{
		{nil, 1500, false},
		{at(0, 0), 1500, true},
		{at(4*time.Second, time.Second), 250, true},
		{nil, 250, true},
		{at(8*time.Second, 2*time.Second, vcpuTimes{time.Second, time.Second}), 250, false},
		{at(12*time.Second, 4*time.Second, vcpuTimes{3 * time.Second, 3 * time.Second}), 1000, false},
	} {
		if got, hidden := look(step.sample); got != step.want || hidden != step.hidden {
			t.Errorf("look %d: demand %d, hidden %t; want %d, %t", i, got, hidden, step.want, step.hidden)
		}
	}
}

// Machines that run are sampled when that is due; a paused one is not, and begins anew when it runs.
func TestSamplingOfALook(t *testing.T) {
	h := &node{driver: &Driver{}, cache: newCache()}
	var sampled []string
	look := func(states map[string]libvirt.DomainState) {
		sampled = nil
		for _, uuid := range []string{"a", "b"} {
			m := &listedMachine{uuid: uuid, id: 7, identity: ourMachine, state: states[uuid], job: hypervisor.JobUnknown}
			h.queryJobs(t.Context(), []*listedMachine{m}, func(_ context.Context, q question) (jobAnswer, error) {
				a := jobAnswer{job: hypervisor.JobNone}
				if q.sample {
					sampled = append(sampled, q.uuid)
					a.sample = &sample{at: time.Now(), used: time.Second}
				}
				return a, nil
			})
			h.driver.running.Wait()
			m.copy.State, _ = copyState(m.state, m.reason, m.job)
			h.cache.recordListed(m, time.Now())
		}
	}
	const running, paused = libvirt.DOMAIN_RUNNING, libvirt.DOMAIN_PAUSED
	for i, step := range []struct {
		b    libvirt.DomainState
		want []string
	}{{paused, []string{"a"}}, {running, []string{"b"}}, {running, nil}, {paused, nil}, {running, []string{"b"}}} {
		if look(map[string]libvirt.DomainState{"a": running, "b": step.b}); !slices.Equal(sampled, step.want) {
			t.Errorf("look %d: sampled %v, want %v", i, sampled, step.want)
		}
	}
}

// fakeStats is a connection that tells those statistics of one machine.
type fakeStats struct {
	kinds libvirt.DomainStatsTypes
	doms  int
	stats []libvirt.DomainStats
	fault error
}

func (f *fakeStats) GetAllDomainStats(doms []*libvirt.Domain, kinds libvirt.DomainStatsTypes, flags libvirt.ConnectGetAllDomainStatsFlags) ([]libvirt.DomainStats, error) {
	f.kinds, f.doms = kinds, len(doms)
	if flags != libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT {
		return nil, errors.New("it would wait for the machine")
	}
	return f.stats, f.fault
}

// One machine is sampled without waiting for it. Without statistics there is no sample.
func TestTakeSample(t *testing.T) {
	b := newBuiltin(t)
	dom := b.create(cluster.VMID{VJob: 7}, nil)
	stats := func(cpu *libvirt.DomainStatsCPU) []libvirt.DomainStats {
		if err := dom.Ref(); err != nil {
			t.Fatal(err)
		}
		return []libvirt.DomainStats{{Domain: dom, Cpu: cpu}}
	}
	f := &fakeStats{stats: stats(&libvirt.DomainStatsCPU{Time: 5})}
	if s := takeSample(f, dom); s == nil || s.used != 5 || f.doms != 1 || f.kinds&libvirt.DOMAIN_STATS_VCPU == 0 || f.kinds&libvirt.DOMAIN_STATS_BALLOON == 0 {
		t.Errorf("sampled %+v by %+v", s, f)
	}
	for _, f := range []*fakeStats{{stats: stats(nil)}, {fault: errors.New("no monitor")}, {}} {
		if s := takeSample(f, dom); s != nil {
			t.Errorf("sampled %+v", s)
		}
	}
}

// A look at a host that hides contention warns of it.
func TestHiddenContentionIsAWarning(t *testing.T) {
	b := newBuiltin(t)
	for i, vcpus := range [][]vcpuTimes{{{}}, nil} {
		b.nodes["h1"].cache.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, sample: &sample{at: noon, vcpus: vcpus}}, time.Now())
		view, err := b.Look(t.Context(), "h1")
		if err != nil {
			t.Fatal(err)
		}
		if warned := slices.Contains(view.Warnings, warnBlind); warned != (i == 1) {
			t.Errorf("with %d processors the warnings are %q", len(vcpus), view.Warnings)
		}
	}
}
