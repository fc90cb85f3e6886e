package scheduler_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// reserve asks for a reservation of one VM with 2 CPU on each of so many nodes.
func (p *plant) reserve(key string, nodes int, in, walltime time.Duration) (*cluster.VJob, error) {
	s := admission.Submission{Owner: "u", Key: key, Walltime: walltime}
	s.Reservation = time.Now().Add(in)
	s.VMs = wide(nodes)
	job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
	return job, err
}

func wide(nodes int) (vms []cluster.VM) {
	for range nodes {
		vms = append(vms, cluster.VM{Reserved: cluster.Resources{CPU: 2000, Memory: 512}, Payload: &cluster.Payload{
			Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 2000, Duration: time.Hour}}},
		}})
	}
	return vms
}

// Running vjobs are suspended in time, and the reservation begins in its second and ends with its
// walltime.
func TestReservationBeginsInTime(t *testing.T) {
	set := settings()
	set.Execute.Costs, set.Reservations.Margin = ctxswitch.ThesisCosts, 10*time.Second
	with(t, set, func(p *plant) {
		other, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: wide(2)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		job, err := p.reserve("", 2, 10*time.Minute, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * time.Minute)
		if status := p.loop.Requests.Snapshot().VJob(job.ID); !strings.Contains(status.Reason, "waits for its reservation at ") || !status.Start.Equal(job.Reservation) {
			t.Errorf("it %s, and starts at %s", status.Reason, status.Start)
		}
		p.expect("before", other.ID, cluster.Running)
		time.Sleep(2*time.Minute - time.Second)
		p.expect("a second before", other.ID, cluster.Suspended)
		time.Sleep(time.Second + 500*time.Millisecond)
		p.expect("half a second after", job.ID, cluster.Booting)
		time.Sleep(4 * time.Minute)
		p.expect("in the middle", job.ID, cluster.Running)
		time.Sleep(2 * time.Minute)
		p.expect("after the walltime", job.ID, cluster.Terminated)
		p.expect("after the walltime", other.ID, cluster.Running)
	})
}

func (p *plant) expect(when string, id cluster.VJobID, want cluster.State) {
	p.t.Helper()
	synctest.Wait()
	if got := p.state(id); got != want {
		p.t.Errorf("%s: vjob %s is %s, want %s: %s", when, id, got, want, p.loop.Requests.Snapshot().VJob(id).Reason)
	}
}

// No resource is promised twice to parallel requests; a repeated request gets the same vjob.
func TestReservationsAreConfirmedOneByOne(t *testing.T) {
	in(t, func(p *plant) {
		var mu sync.Mutex
		var all sync.WaitGroup
		given := map[string]cluster.VJobID{}
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			all.Go(func() {
				job, err := p.reserve(key, 1, time.Hour, time.Hour)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					given[key] = job.ID
				} else if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "only 0 of the 4 CPU are free beside reservations") {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(given) != 2 {
			t.Errorf("%d reservations of half the cluster are confirmed", len(given))
		}
		for key, id := range given {
			if job, err := p.reserve(key, 1, time.Hour, time.Hour); err != nil || job.ID != id {
				t.Errorf("%s again: %v, %v", key, job, err)
			}
		}
		first := slices.Min(slices.Collect(maps.Values(given)))
		if err := p.loop.Requests.Order(p.t.Context(), first, scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.reserve("i", 1, time.Hour, time.Hour); err != nil {
			t.Errorf("after one was deleted: %v", err)
		}
	})
}

// A write of which it is unknown whether it was made is not forgotten.
func TestReservationOfUnknownFate(t *testing.T) {
	in(t, func(p *plant) {
		fault := errors.New("the disk is slow")
		p.fail.Store(&fault)
		first, err := p.reserve("", 2, time.Hour, time.Hour)
		if err == nil {
			t.Fatalf("it was written: %v", first)
		}
		_, second := p.reserve("", 2, time.Hour, time.Hour)
		for errors.Is(second, cluster.ErrUnavailable) {
			time.Sleep(time.Second)
			_, second = p.reserve("", 2, time.Hour, time.Hour)
		}
		kept := 0
		for id := cluster.VJobID(1); id <= 2; id++ {
			if row, ok := p.store.VJob(id); ok && !row.State.Terminal() {
				kept++
			}
		}
		if kept != 1 {
			t.Errorf("%d reservations of the whole cluster are kept; the second: %v", kept, second)
		}
	})
}

// A reservation without nodes starts when they are back, and an alarm is raised.
func TestReservationThatIsLate(t *testing.T) {
	in(t, func(p *plant) {
		job, err := p.reserve("", 2, 10*time.Minute, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.loop.Requests.SetNodes(p.t.Context(), []cluster.NodeID{"n2"}, cluster.Draining, journal.Audit{By: "u"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Minute)
		p.expect("without a node", job.ID, cluster.Waiting)
		told := 0
		for _, e := range p.store.Events(0) {
			if e.Kind == journal.EventAlarm && e.VJob == job.ID && strings.Contains(e.Text, "cannot start at the time of its reservation") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		if err := p.loop.Requests.SetNodes(p.t.Context(), []cluster.NodeID{"n2"}, cluster.Online, journal.Audit{By: "u"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		p.expect("with it", job.ID, cluster.Running)
	})
}

// A quota that would be used up at its time refuses a reservation; one that is confirmed
// begins even if its owner has used the quota up since.
func TestReservationsUnderQuotas(t *testing.T) {
	with(t, arranged(t, 2000, 4000), func(p *plant) { // at midnight
		if _, err := p.reserve("", 2, 2*time.Hour, time.Hour); err == nil ||
			!strings.Contains(err.Error(), "at 02:00 it would be over quota cpus of user u: 0 of 2 CPU are used, it needs 4; the earliest start is 06:00") {
			t.Errorf("by night: %v", err)
		}
		job, err := p.reserve("", 1, 2*time.Hour, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.reserve("", 1, 150*time.Minute, time.Hour); err == nil || !strings.Contains(err.Error(), "2 of 2 CPU are used, it needs 2") {
			t.Errorf("beside the first: %v", err)
		}
		other, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: wide(1)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		p.expect("before", other.ID, cluster.Running)
		time.Sleep(time.Hour + time.Minute)
		p.expect("at its time", job.ID, cluster.Running)
	})
}

// Room in sum is not enough where what keeps its room leaves it in pieces.
func TestReservationsFindPlaces(t *testing.T) {
	set := settings()
	set.Policy = queue.EASY{}
	with(t, set, func(p *plant) {
		half := wide(2)
		for i := range half {
			half[i].Reserved = cluster.Resources{CPU: 1200, Memory: 128}
		}
		s := admission.Submission{Owner: "u", VMs: half, Walltime: 2 * time.Hour}
		if _, _, err := p.loop.Requests.Submit(p.t.Context(), s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		whole := admission.Submission{Owner: "u", VMs: wide(1), Walltime: time.Hour}
		whole.VMs[0].Reserved.CPU = 1500
		whole.Reservation = time.Now().Add(time.Hour)
		_, _, err := p.loop.Requests.Submit(p.t.Context(), whole)
		if err == nil || !strings.Contains(err.Error(), "the 1.6 CPU and 3.8 GiB that are free beside what runs lie in pieces too small for its VMs; the earliest start is 02:01") {
			t.Error(err)
		}
	})
}

// Rules count when a reservation is confirmed, and until it begins: no vjob takes the places
// that its rules leave it.
func TestReservationsKeepTheirRules(t *testing.T) {
	set := settings()
	set.Policy = queue.EASY{}
	with(t, set, func(p *plant) {
		ask := func(rules string, in, walltime time.Duration) (*cluster.VJob, error) {
			s := admission.Submission{Owner: "u", VMs: wide(1), Walltime: walltime, Rules: rules}
			if in > 0 {
				s.Reservation = time.Now().Add(in)
			}
			job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
			return job, err
		}
		kept, err := ask("fence($VMS, n1);", time.Hour, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask("fence($VMS, n1);", 90*time.Minute, time.Hour); err == nil ||
			!strings.Contains(err.Error(), "at 01:30 the 2 CPU and 3.5 GiB that are free beside reservation 1 are not where its VMs would fit and its rules let them be; the earliest start is 02:00") {
			t.Errorf("where another one is: %v", err)
		}
		fenced, err := ask("fence($VMS, n1);", 0, 3*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		p.expect("a vjob in the way", fenced.ID, cluster.Waiting)
		if why := p.loop.Requests.Snapshot().VJob(fenced.ID).Reason; !strings.Contains(why, "the reservation of vjob 1 at 01:00, which would find no places beside it") {
			t.Error(why)
		}
		time.Sleep(30*time.Minute + 20*time.Second)
		p.expect("at its time", kept.ID, cluster.Running)
		time.Sleep(time.Hour)
		p.expect("after it", fenced.ID, cluster.Running)
	})
}
