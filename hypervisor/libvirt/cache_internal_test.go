//go:build libvirt_dlopen && cgo

package libvirt

import (
	"slices"
	"testing"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

var (
	ourMachine = identity{mark: mark{VJob: 12, Rank: 3, Incarnation: 2, Epoch: 9, CPUMilli: 1500}}
	noon       = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// A guest that ends by itself is reported with its cause; one that is destroyed, saved or
// moved, or never came to be, is not.
func TestEndings(t *testing.T) {
	resumed := event{"a", libvirt.DOMAIN_EVENT_RESUMED, 0}
	suspended := event{"a", libvirt.DOMAIN_EVENT_SUSPENDED, 0}
	byHost := event{"a", libvirt.DOMAIN_EVENT_SHUTDOWN, int(libvirt.DOMAIN_EVENT_SHUTDOWN_HOST)}
	byGuest := event{"a", libvirt.DOMAIN_EVENT_SHUTDOWN, int(libvirt.DOMAIN_EVENT_SHUTDOWN_GUEST)}
	stopped := func(detail libvirt.DomainEventStoppedDetailType) event {
		return event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(detail)}
	}
	off, failed := stopped(libvirt.DOMAIN_EVENT_STOPPED_SHUTDOWN), stopped(libvirt.DOMAIN_EVENT_STOPPED_FAILED)
	shutdown, crashed := []hypervisor.Cause{hypervisor.CauseShutdown}, []hypervisor.Cause{hypervisor.CauseCrashed}
	for name, tt := range map[string]struct {
		events []event
		want   []hypervisor.Cause
	}{
		"it powers itself off":               {[]event{byGuest, off}, shutdown},
		"its process is ended from outside":  {[]event{byHost, off}, crashed},
		"asked from outside, then by itself": {[]event{byHost, byGuest, off}, shutdown},
		"no word before its end":             {[]event{off}, shutdown},
		"it crashes":                         {[]event{stopped(libvirt.DOMAIN_EVENT_STOPPED_CRASHED)}, crashed},
		"its restore fails":                  {[]event{{"a", libvirt.DOMAIN_EVENT_STARTED, 0}, failed}, nil},
		"QEMU ends after the guest executed": {[]event{resumed, failed}, crashed},
		"QEMU fails after it was complete":   {[]event{suspended, failed}, crashed},
		"destroyed":                          {[]event{resumed, stopped(libvirt.DOMAIN_EVENT_STOPPED_DESTROYED)}, nil},
		"saved":                              {[]event{resumed, stopped(libvirt.DOMAIN_EVENT_STOPPED_SAVED)}, nil},
		"moved":                              {[]event{resumed, stopped(libvirt.DOMAIN_EVENT_STOPPED_MIGRATED)}, nil},
		"an end is reported once":            {[]event{off, off}, shutdown},
		"of another machine":                 {[]event{{"b", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_CRASHED)}}, nil},
	} {
		m := newCache()
		m.expect("a", ourMachine)
		for _, e := range tt.events {
			m.handleEvent(e, noon)
		}
		var got []hypervisor.Cause
		for _, e := range m.recentEndings(noon) {
			got = append(got, e.Cause)
			if e.VM != ourMachine.mark.vm() || e.Stamp != ourMachine.mark.stamp() || !e.At.Equal(noon) {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: told are %v, want %v", name, got, tt.want)
		}
	}
}

// A machine that a look has found without a job is complete.
func TestEndingAfterALook(t *testing.T) {
	for job, want := range map[hypervisor.Job]int{hypervisor.JobNone: 1, hypervisor.JobRestoring: 0, hypervisor.JobUnknown: 0} {
		m := newCache()
		m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{Job: job}}, noon)
		m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{Job: hypervisor.JobSaving}}, noon)
		m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_FAILED)}, noon)
		if got := len(m.recentEndings(noon)); got != want {
			t.Errorf("found with job %s: %d endings, want %d", job, got, want)
		}
	}
}

// An event counts also where a look finds the machine only afterwards.
func TestEndingOfAMachineFoundLate(t *testing.T) {
	m := newCache()
	m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_RESUMED, 0}, noon)
	m.expire(noon)
	m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{Job: hypervisor.JobSaving}}, noon)
	m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_FAILED)}, noon)
	if got := m.recentEndings(noon); len(got) != 1 || got[0].Cause != hypervisor.CauseCrashed {
		t.Errorf("endings: %+v", got)
	}
}

// An event of a machine that is not known calls for a look, unless it is its end.
func TestUnknownMachines(t *testing.T) {
	m := newCache()
	started := event{"a", libvirt.DOMAIN_EVENT_STARTED, 0}
	for range 2 {
		if !m.handleEvent(started, noon) {
			t.Error("an event of an unknown machine calls for no look")
		}
	}
	if m.handleEvent(event{"b", libvirt.DOMAIN_EVENT_STOPPED, 0}, noon) {
		t.Error("the end of an unknown machine calls for a look")
	}
	m.expect("a", ourMachine)
	if m.handleEvent(started, noon) {
		t.Error("an event of a machine that is expected calls for a look")
	}
	if _, ours := m.lookup("a", noID); ours {
		t.Error("a machine that was not seen is known by its number")
	}
	m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_CRASHED)}, noon)
	if endings := m.recentEndings(noon); len(endings) != 1 || endings[0].VM != ourMachine.mark.vm() {
		t.Errorf("told are %+v", endings)
	}
}

// A machine that is expected is remembered until it is seen, and is known by its number
// only then.
func TestExpected(t *testing.T) {
	m := newCache()
	m.expect("a", ourMachine)
	m.expire(time.Now().Add(keepUnlisted / 2))
	for _, id := range []int{noID, 0, 1} {
		if _, ours := m.lookup("a", id); ours {
			t.Errorf("known by number %d", id)
		}
	}
	if m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STARTED, 0}, noon) {
		t.Error("forgotten before it was seen")
	}
	m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{}}, noon)
	next := ourMachine
	next.mark.Incarnation++
	m.expect("a", next)
	if who, ours := m.lookup("a", 7); !ours || who != next {
		t.Errorf("expected once more: %+v, %t", who, ours)
	}
}

// Endings are listed for ten minutes, and the last thousand at most.
func TestEndingsAreBounded(t *testing.T) {
	m := newCache()
	for i := range maxEndings + 2 {
		who := ourMachine
		who.mark.Rank = i
		m.expect("a", who)
		m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_CRASHED)}, noon.Add(time.Duration(i)*time.Millisecond))
		if n := len(m.recentEndings(noon)); n != min(i+1, maxEndings) {
			t.Fatalf("after %d endings %d are listed", i+1, n)
		}
	}
	endings := m.recentEndings(noon)
	if len(endings) != maxEndings || endings[0].VM.Rank != 2 || endings[maxEndings-1].VM.Rank != maxEndings+1 {
		t.Errorf("told are %d, from %v", len(endings), endings[0].VM)
	}
	endings[0].VM.Rank = -1
	last := noon.Add(keepEndings + (maxEndings+1)*time.Millisecond)
	for _, step := range []struct {
		now  time.Time
		want int
	}{{last.Add(-(maxEndings - 1) * time.Millisecond), maxEndings}, {last, 1}, {last.Add(1), 0}} {
		if endings = m.recentEndings(step.now); len(endings) != step.want || step.want > 0 && endings[0].VM.Rank < 0 {
			t.Errorf("%s after noon, told are %d, want %d", step.now.Sub(noon), len(endings), step.want)
		}
	}
}

// What is remembered of a machine counts for the start of it that was seen.
func TestKnownByNumber(t *testing.T) {
	m := newCache()
	m.expect("a", ourMachine)
	m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{Cap: 500, Weight: 300, Job: hypervisor.JobNone}}, noon)
	first := tuning{250, 50}
	for _, tt := range []struct {
		uuid string
		id   int
		ours bool
		want tuning
	}{{"a", 7, true, tuning{500, 300}}, {"a", 8, false, first}, {"b", 7, false, first}, {"a", noID, false, first}} {
		who, ours := m.lookup(tt.uuid, tt.id)
		if tuned := m.tuning(tt.uuid, tt.id, first); ours != tt.ours || ours != (who == ourMachine) || tuned != tt.want {
			t.Errorf("machine %s, number %d: %+v, ours %t, %+v; want %t, %+v", tt.uuid, tt.id, who, ours, tuned, tt.ours, tt.want)
		}
	}
	m.recordTuning("b", tuning{750, 400})
	for _, c := range []struct{ given, want tuning }{{tuning{750, 400}, tuning{750, 400}}, {tuning{0, 0}, tuning{0, 400}}} {
		m.recordTuning("a", c.given)
		if tuned := m.tuning("a", 7, first); tuned != c.want {
			t.Errorf("given %+v, it has %+v, want %+v", c.given, tuned, c.want)
		}
	}
	m.expect("d", ourMachine)
	if tuned := m.tuning("d", noID, first); tuned != first {
		t.Errorf("a machine that is expected has %+v", tuned)
	}
	// Another start of it: what the first was does not count.
	m.recordListed(&listedMachine{uuid: "a", id: 8, identity: ourMachine, copy: hypervisor.Copy{Job: hypervisor.JobRestoring}}, noon)
	m.handleEvent(event{"a", libvirt.DOMAIN_EVENT_STOPPED, int(libvirt.DOMAIN_EVENT_STOPPED_FAILED)}, noon)
	if endings := m.recentEndings(noon); len(endings) != 0 {
		t.Errorf("the end of a restore is an ending: %+v", endings)
	}
	m.handleEvent(event{"c", libvirt.DOMAIN_EVENT_STARTED, 0}, noon) // an unmanaged machine
	if tuned := m.tuning("c", noID, first); tuned != first {
		t.Errorf("an unmanaged machine has %+v", tuned)
	}
}

// A machine is forgotten a minute after it was seen last.
func TestForget(t *testing.T) {
	m := newCache()
	m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{}}, noon)
	m.expire(noon.Add(keepUnlisted))
	if _, ours := m.lookup("a", 7); !ours {
		t.Error("forgotten too early")
	}
	m.expire(noon.Add(keepUnlisted + 1))
	if _, ours := m.lookup("a", 7); ours {
		t.Error("never forgotten")
	}
}

// The description of a machine is read again after its start: only then has its CPU all the features that QEMU
// gave it.
func TestDescriptionsOfStartingMachines(t *testing.T) {
	t.Parallel()
	m := newCache()
	listed := listedMachine{uuid: "a", id: 7, identity: ourMachine, state: libvirt.DOMAIN_PAUSED, reason: libvirt.DOMAIN_PAUSED_STARTING_UP}
	m.recordListed(&listed, noon)
	if _, known := m.lookup("a", 7); known {
		t.Error("the description of a machine that starts is kept")
	}
	listed.state = libvirt.DOMAIN_RUNNING
	m.recordListed(&listed, noon)
	if _, known := m.lookup("a", 7); !known {
		t.Error("the description of a machine that runs is not kept")
	}
}
