package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/scheduler/admission"
)

func shape(nodes int, walltime time.Duration) cluster.Shape {
	return cluster.Shape{VMs: wide(nodes), Walltime: walltime}
}

// mold submits a vjob with several shapes.
func (p *plant) mold(shapes ...cluster.Shape) (*cluster.VJob, error) {
	s := admission.Submission{Owner: "u", VMs: shapes[0].VMs, Walltime: shapes[0].Walltime}
	s.Shapes = shapes
	job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
	return job, err
}

// Half of the cluster is taken for half an hour. A vjob that fits the other half takes it if
// it is done sooner so, runs in that shape, and keeps it over a restart.
func TestMold(t *testing.T) {
	for _, c := range []struct {
		name  string
		small time.Duration
		state cluster.State // a minute later
		vms   int
	}{
		{"the small one ends first", 20 * time.Minute, cluster.Running, 1},
		{"the large one ends first", 50 * time.Minute, cluster.Waiting, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := settings()
			set.Policy = queue.EASY{}
			with(t, set, func(p *plant) {
				if _, _, err := p.loop.Requests.Submit(p.t.Context(), admission.Submission{Owner: "u", VMs: wide(1), Walltime: 30 * time.Minute}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				job, err := p.mold(shape(2, 10*time.Minute), shape(1, c.small))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				p.expect("a minute later", job.ID, c.state)
				time.Sleep(30 * time.Minute)
				kept, _ := p.store.VJob(job.ID)
				if len(kept.VMs) != c.vms || len(kept.Gang.Members) != c.vms || kept.Size != c.vms {
					t.Errorf("it has %d VMs, %d members, a size of %d", len(kept.VMs), len(kept.Gang.Members), kept.Size)
				}
				told := 0
				for _, e := range p.store.Events(0) {
					if e.Kind == journal.EventState && e.VJob == job.ID && strings.Contains(e.Text, "takes shape 2 of 2: 1 VM with 2 CPU, 512 MiB for 20m0s") {
						told++
					}
				}
				if told != 2-c.vms {
					t.Errorf("told %d times of the other shape", told)
				}
				time.Sleep(15 * time.Minute)
				p.expect("after both walltimes", job.ID, cluster.Terminated)
			})
		})
	}
}
