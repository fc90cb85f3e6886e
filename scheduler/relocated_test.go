package scheduler_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// static returns settings under which no vjob is suspended, but vjobs may migrate.
func static() scheduler.Settings {
	set := settings()
	set.Policy, set.Live, set.Execute.Costs, set.Reservations.Margin = queue.EASY{}, true, ctxswitch.ThesisCosts, 5*time.Second
	return set
}

// small submits a vjob of one VM with 1 CPU that computes for so long.
func (p *plant) small(rules string, lasts time.Duration) *cluster.VJob {
	p.t.Helper()
	job, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", Rules: rules, Walltime: lasts + time.Minute, VMs: []cluster.VM{{
		Reserved: cluster.Resources{CPU: 1000, Memory: 512},
		Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: lasts}}}},
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(5 * time.Second) // it is there before the next comes
	return job
}

// A vjob that is not preempted has moved off the nodes of a reservation when it begins.
func TestReservationBeginsInTimeWhereOthersHaveToMove(t *testing.T) {
	with(t, static(), func(p *plant) {
		p.small("", 2*time.Minute)
		stays := p.small("", time.Hour)
		moves := p.small("", time.Hour) // on the other node, where one is alone when the first has ended
		job, err := p.reserve("", 1, 10*time.Minute, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		if a, b := p.host(stays), p.host(moves); a == b {
			t.Errorf("both are on %s a minute before", a)
		}
		time.Sleep(time.Minute - time.Second)
		if a, b := p.host(stays), p.host(moves); a != b {
			t.Errorf("a second before, they are on %s and %s", a, b)
		}
		p.expect("a second before", job.ID, cluster.Waiting)
		time.Sleep(time.Second + 500*time.Millisecond)
		p.expect("half a second after", job.ID, cluster.Booting)
	})
}

// A vjob that cannot move, or is a container, starts where no reservation needs its nodes.
func TestNobodyStartsForGoodInTheWayOfAReservation(t *testing.T) {
	for name, submit := range map[string]func(p *plant) *cluster.VJob{
		"rooted": func(p *plant) *cluster.VJob { return p.small("root($VMS);", time.Hour) },
		"container": func(p *plant) *cluster.VJob {
			s := admission.Submission{Owner: "u", Walltime: time.Hour, VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 1000, Memory: 512}}}}
			s.Container, s.Preemption = true, cluster.Never
			job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
			if err != nil {
				p.t.Fatal(err)
			}
			return job
		},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, static(), func(p *plant) {
				r := admission.Submission{Owner: "u", Walltime: 5 * time.Minute, VMs: wide(1), Rules: "fence($VMS, n1);"}
				r.Reservation = time.Now().Add(10 * time.Minute)
				reserved, _, err := p.loop.Requests.Submit(p.t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				other := submit(p)
				time.Sleep(5 * time.Minute)
				p.expect("before", other.ID, cluster.Running)
				time.Sleep(5*time.Minute + 2*time.Second)
				p.expect("two seconds after", reserved.ID, cluster.Running)
			})
		})
	}
}

// host is the node on which the only VM of a vjob is.
func (p *plant) host(job *cluster.VJob) cluster.NodeID {
	p.t.Helper()
	for _, c := range p.driver.Truth().Copies {
		if c.VM.VJob == job.ID {
			return c.Node
		}
	}
	p.t.Fatalf("vjob %s is nowhere", job.ID)
	return ""
}

// A decision for which the time comes while the scheduler rests is taken right after that.
func TestWhatIsDueDuringARestComesAfterIt(t *testing.T) {
	set := settings()
	set.Rest = time.Second
	r := mount(t, set, state(4, 0))
	r.drain()
	job := &cluster.VJob{ID: 9, Owner: "u", Walltime: time.Hour, Submitted: r.now, VMs: wide(1), Terms: &cluster.Terms{}}
	job.VMs[0].ID.VJob, job.NotBefore = 9, epoch.Add(1500*time.Millisecond)
	r.core.VJobs.Submitted(r.now, job)
	r.at(time.Second) // a decision; the next one would be due half a second later
	r.at(1500 * time.Millisecond)
	if want := epoch.Add(2 * time.Second); r.wake.After(want) {
		t.Errorf("it wakes at %s, want %s", r.wake.Format(time.StampMilli), want.Format(time.StampMilli))
	}
}
