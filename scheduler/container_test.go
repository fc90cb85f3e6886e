package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// box submits a container with room for so many VMs of 1 CPU and 1 GiB.
func (p *plant) box(vms int, walltime time.Duration) *cluster.VJob {
	p.t.Helper()
	s := admission.Submission{Owner: "u", Walltime: walltime, VMs: small(vms)}
	s.Container = true
	job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
	if err != nil {
		p.t.Fatal(err)
	}
	return job
}

// inner submits a vjob that runs inside a container.
func (p *plant) inner(box cluster.VJobID, vms int, walltime time.Duration) *cluster.VJob {
	p.t.Helper()
	s := admission.Submission{Owner: "u", Walltime: walltime, VMs: small(vms)}
	s.Inner = box
	job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
	if err != nil {
		p.t.Fatal(err)
	}
	return job
}

func small(n int) (vms []cluster.VM) {
	for range n {
		vms = append(vms, cluster.VM{Reserved: cluster.Resources{CPU: 1000, Memory: 1024}, Payload: &cluster.Payload{
			Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: time.Hour}}},
		}})
	}
	return vms
}

func (p *plant) why(id cluster.VJobID) string { return p.loop.Requests.Snapshot().VJob(id).Reason }

// order asks something of a vjob, and lets a minute pass.
func (p *plant) order(id cluster.VJobID, o scheduler.Order) {
	p.t.Helper()
	if err := p.loop.Requests.Order(p.t.Context(), id, o, "u"); err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// Vjobs run inside a container one after another, however much is free outside, and none
// that would not come to its end before the container does.
func TestInsideAContainer(t *testing.T) {
	in(t, func(p *plant) {
		box := p.box(2, time.Hour)
		time.Sleep(time.Minute)
		first, second := p.inner(box.ID, 2, 10*time.Minute), p.inner(box.ID, 1, 55*time.Minute)
		third, whole := p.inner(box.ID, 1, 10*time.Minute), p.inner(box.ID, 2, 0)
		time.Sleep(time.Minute)
		p.expect("at first", box.ID, cluster.Running)
		p.expect("at first", first.ID, cluster.Running)
		p.expect("at first", second.ID, cluster.Waiting)
		if why := p.why(second.ID); !strings.Contains(why, "needs 1 CPU and 1 GiB more") {
			t.Errorf("the second %s", why)
		}
		if n := len(p.driver.Truth().Copies); n != 2 {
			t.Errorf("there are %d copies", n)
		}
		time.Sleep(10 * time.Minute)
		p.expect("after ten minutes", first.ID, cluster.Terminated)
		p.expect("after ten minutes", second.ID, cluster.Waiting)
		p.expect("after ten minutes", third.ID, cluster.Running)
		if why := p.why(second.ID); !strings.Contains(why, "needs 55m0s, and its container 1 holds its room for ") {
			t.Errorf("the second %s", why)
		}
		time.Sleep(12 * time.Minute)
		p.expect("then", whole.ID, cluster.Running)
		time.Sleep(40 * time.Minute)
		p.expect("in the end", box.ID, cluster.Terminated)
		p.expect("in the end", whole.ID, cluster.Terminated)
		p.expect("in the end", second.ID, cluster.Failed)
		if truth := p.driver.Truth(); len(truth.Copies)+len(truth.Images) > 0 {
			t.Errorf("left: %+v", truth)
		}
	})
}

// A container keeps its resources. Suspending it suspends the vjobs inside first.
func TestContainerIsSuspended(t *testing.T) {
	in(t, func(p *plant) {
		box := p.box(3, time.Hour)
		time.Sleep(time.Minute)
		inner := p.inner(box.ID, 1, 0)
		other, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "v", VMs: small(2), Priority: 9})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		p.expect("at first", inner.ID, cluster.Running)
		p.expect("at first", other.ID, cluster.Waiting)
		p.order(box.ID, scheduler.OrderSuspend)
		p.expect("suspended", box.ID, cluster.Waiting)
		p.expect("suspended", inner.ID, cluster.Suspended)
		p.expect("suspended", other.ID, cluster.Running)
		if why := p.why(inner.ID); why != "waits: its container 1 waits" {
			t.Errorf("it %s", why)
		}
		p.order(other.ID, scheduler.OrderDelete)
		p.order(box.ID, scheduler.OrderResume)
		p.expect("resumed", box.ID, cluster.Running)
		p.expect("resumed", inner.ID, cluster.Running)
		waits := p.inner(box.ID, 3, 0)
		p.order(box.ID, scheduler.OrderDelete)
		p.expect("deleted", box.ID, cluster.Terminated)
		p.expect("deleted", inner.ID, cluster.Terminated)
		p.expect("deleted", waits.ID, cluster.Failed)
		if row, _ := p.store.VJob(inner.ID); row.Outcome != cluster.Deleted {
			t.Errorf("inside it is %s", row.Outcome)
		}
	})
}

// What can never run inside is refused at once, and says why.
func TestRefusalsInside(t *testing.T) {
	in(t, func(p *plant) {
		box, plain := p.box(2, time.Hour), small(1)
		over := p.box(1, time.Minute)
		other, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: plain})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		p.expect("it is over", over.ID, cluster.Terminated)
		for _, c := range []struct {
			name   string
			change func(s *admission.Submission)
			want   string
		}{
			{"unknown", func(s *admission.Submission) { s.Inner = 99 }, "inner: 99 is not the number of a container of yours that has not ended"},
			{"foreign", func(s *admission.Submission) { s.Owner = "v" }, "inner: 1 is not the number of a container of yours that has not ended"},
			{"none", func(s *admission.Submission) { s.Inner = other.ID }, "inner: 3 is not the number of a container"},
			{"ended", func(s *admission.Submission) { s.Inner = over.ID }, "inner: 2 is not the number of a container of yours that has not ended"},
			{"a container", func(s *admission.Submission) { s.Container, s.Walltime = true, time.Minute }, "inner: a container cannot run inside another one, 1"},
			{"too long", func(s *admission.Submission) { s.Walltime = time.Hour }, "walltime_seconds: 1h0m0s requested, container 1 holds its resources for 57m"},
			{"too many", func(s *admission.Submission) { s.VMs = small(3) }, `vms: no places for 3 VMs in container 1 with 2 VMs of 2 CPU, 2 GiB together`},
			{"too large", func(s *admission.Submission) { s.VMs[0].Reserved.Memory = 1025 }, "vms[0]: 1 CPU, 1 GiB requested, no VM of container 1 has as much"},
			{"alternatives", func(s *admission.Submission) { s.Shapes = []cluster.Shape{{}, {}} }, "shapes: a vjob inside a container cannot have alternatives"},
			{"reservation", func(s *admission.Submission) { s.Reservation = time.Now().Add(time.Hour) }, "reservation: a vjob inside a container cannot have a reservation"},
			{"a container without end", func(s *admission.Submission) { s.Inner, s.Container = 0, true }, "walltime_seconds: a container requires a walltime"},
		} {
			s := admission.Submission{Owner: "u", VMs: small(1)}
			s.Inner = box.ID
			c.change(&s)
			if _, _, err := p.loop.Requests.Submit(p.t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		}
	})
}

// No vjob inside gets more time than its container has, and a container keeps an end.
func TestWalltimeInside(t *testing.T) {
	in(t, func(p *plant) {
		box := p.box(2, time.Hour)
		time.Sleep(time.Minute)
		inner := p.inner(box.ID, 1, 10*time.Minute)
		for _, c := range []struct {
			id       cluster.VJobID
			walltime time.Duration
			want     string
		}{
			{inner.ID, 50 * time.Minute, ""},
			{inner.ID, 2 * time.Hour, "its container 1 ends in 59m"},
			{box.ID, 0, "a container ends with its walltime"},
			{box.ID, 3 * time.Hour, ""},
			{inner.ID, 2 * time.Hour, ""},
		} {
			err := p.loop.Requests.SetWalltime(p.t.Context(), scheduler.WalltimeChange{VJob: c.id, Walltime: c.walltime, By: "op", Admin: true})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s for vjob %s: %v, want %q", c.walltime, c.id, err, c.want)
			}
		}
	})
}

// A node with resources of a container cannot be offline, although no VM is there; it can be drained.
func TestNodesOfAContainerStayOn(t *testing.T) {
	in(t, func(p *plant) {
		box := p.box(2, time.Hour)
		time.Sleep(time.Minute)
		p.expect("at first", box.ID, cluster.Running)
		refused := 0
		for _, n := range p.loop.Requests.Snapshot().Nodes {
			err := p.loop.Requests.SetNodes(p.t.Context(), []cluster.NodeID{n.ID}, cluster.Offline, journal.Audit{By: "root"})
			if err != nil {
				refused++
				if !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), "holds resources of container 1") {
					t.Errorf("node %s: %v", n.ID, err)
				}
			}
		}
		if refused == 0 {
			t.Error("all nodes of the container may be offline")
		}
	})
}
