package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/scheduler/admission"
)

// timed reports whether the vjobs of a run have walltimes, and some are reservations, moldable,
// containers or inside a container: every seventh run.
func (o *Options) timed() bool { return o.Seed%7 == 3 }

// extras adds walltimes, reservations, shapes and containers to submissions. It has its own
// random numbers, so that all other runs are the same with and without it.
type extras struct {
	rng        *rand.Rand
	containers []*cluster.VJob
	inner      map[cluster.VJobID]cluster.VJobID  // the container of a vjob
	begins     map[cluster.VJobID]time.Time       // reservations
	shapes     map[cluster.VJobID][]cluster.Shape // of moldable vjobs
	late       map[cluster.VJobID]bool            // reservations that were reported as late
}

func newExtras(seed uint64) extras {
	return extras{
		rng: rand.New(rand.NewPCG(seed, 0x71e5)), inner: map[cluster.VJobID]cluster.VJobID{},
		begins: map[cluster.VJobID]time.Time{}, shapes: map[cluster.VJobID][]cluster.Shape{}, late: map[cluster.VJobID]bool{},
	}
}

// time gives a submission a walltime, and perhaps a reservation, shapes or a container.
func (r *run) time(sub *admission.Submission) {
	if !r.opts.timed() {
		return
	}
	e := &r.extras
	longest := time.Duration(0)
	for _, vm := range sub.VMs {
		work := time.Duration(0)
		for _, step := range vm.Payload.Program.Steps {
			work += step.Duration
		}
		longest = max(longest, work)
	}
	sub.Walltime = longest + time.Duration(e.rng.IntN(180))*time.Second
	switch e.rng.IntN(5) {
	case 0:
		sub.Array, sub.MaxConcurrent, sub.After, sub.BestEffort = nil, 0, nil, false
		sub.Reservation = r.shell.Now().Add(time.Duration(1+e.rng.IntN(500)) * time.Second)
	case 1:
		sub.Idempotent = false
		sub.Shapes = e.mold(sub)
	case 2:
		sub.Array, sub.MaxConcurrent, sub.BestEffort, sub.Idempotent = nil, 0, false, false
		sub.Container, sub.Preemption = true, cluster.Never
		sub.Walltime += time.Duration(5+e.rng.IntN(5)) * time.Minute
	default:
		e.enclose(sub)
	}
	if !sub.Container && sub.Inner == 0 && e.rng.IntN(4) == 0 {
		sub.Rules = "root($VMS);"
	}
}

// mold returns alternative shapes of a submission, with fewer VMs and more time.
func (e *extras) mold(sub *admission.Submission) []cluster.Shape {
	shapes := []cluster.Shape{{VMs: sub.VMs, Walltime: sub.Walltime, Rules: sub.Rules}}
	for n := len(sub.VMs) - 1; n > 0; n-- {
		shapes = append(shapes, cluster.Shape{VMs: slices.Clone(sub.VMs[:n]), Walltime: sub.Walltime + time.Duration(e.rng.IntN(300))*time.Second})
	}
	if len(shapes) == 1 {
		return nil
	}
	return shapes
}

// enclose puts some submissions into a container.
func (e *extras) enclose(sub *admission.Submission) {
	if len(e.containers) == 0 || e.rng.IntN(3) == 0 {
		return
	}
	container := e.containers[e.rng.IntN(len(e.containers))]
	sub.Inner, sub.Owner, sub.Idempotent, sub.Rules = container.ID, container.Owner, false, ""
	sub.VMs = sub.VMs[:min(len(sub.VMs), len(container.VMs))]
	if e.rng.IntN(3) == 0 {
		sub.Walltime = 0
	}
	if !slices.ContainsFunc(sub.After, func(cluster.Dependency) bool { return true }) {
		sub.Unmet = 0
	}
}

// note records acknowledged vjobs.
func (e *extras) note(jobs []*cluster.VJob) {
	for _, job := range jobs {
		if job.Container {
			e.containers = append(e.containers, job)
		}
		if job.Inner != 0 {
			e.inner[job.ID] = job.Inner
		}
		if !job.Reservation.IsZero() {
			e.begins[job.ID] = job.Reservation
		}
		if len(job.Shapes) > 0 {
			e.shapes[job.ID] = job.Shapes
		}
	}
}

// inTime checks that no reservation begins early. In a static run without faults, with enough
// power and space for images, it also checks that each begins on time, whatever its rules.
func (r *run) inTime() {
	strict := r.opts.quiet() && r.opts.Static && r.opts.Crashes == 0 && r.opts.CrashAt == 0 && !r.opts.rationed() && !r.opts.cramped()
	for id, at := range r.extras.begins {
		c, known := r.check.jobs[id]
		now := r.shell.Now()
		switch begun := known && c.State != cluster.Waiting; {
		case begun && now.Before(at) && !c.State.Terminal():
			r.check.violate(27, "vjob %s is %s before its reservation at %s", id, c.State, at.Format(time.TimeOnly))
		case !begun && strict && now.Sub(at) > lateness && !r.extras.late[id]:
			r.extras.late[id] = true
			r.check.violate(27, "vjob %s has not begun at its reservation at %s: %s", id, at.Format(time.TimeOnly), r.why(id))
		}
	}
}

// lateness is how late a reservation may begin: the time for others to move out of its way.
const lateness = 2 * time.Second

// inShape checks that the copies of a moldable vjob are those of one of its shapes.
func (r *run) inShape() {
	if len(r.extras.shapes) == 0 {
		return
	}
	for _, c := range r.cluster.Truth().Copies {
		shapes, moldable := r.extras.shapes[c.VM.VJob]
		if !moldable {
			continue
		}
		size := len(r.check.gangs[c.VM.VJob].Members)
		fits := slices.ContainsFunc(shapes, func(s cluster.Shape) bool { return len(s.VMs) == size })
		if !fits || c.VM.Rank >= size {
			r.check.violate(28, "%s is there, and its vjob has %d members", c.VM, size)
		}
	}
}

// isInside checks that vjobs inside a container use no more memory on a node than the container
// has there.
func (r *run) isInside() {
	if len(r.extras.inner) == 0 {
		return
	}
	type spot struct {
		container cluster.VJobID
		node      cluster.NodeID
	}
	used := map[spot]cluster.Resources{}
	for _, c := range r.cluster.Truth().Copies {
		container, inner := r.extras.inner[c.VM.VJob]
		if rec := r.check.gangs[c.VM.VJob]; inner && c.Stamp.Incarnation == rec.Incarnation && rec.Phase != gang.Absent {
			at := spot{container, c.Node}
			used[at] = used[at].Plus(cluster.Resources{Memory: c.Reserved.Memory})
		}
	}
	for at, need := range used {
		rec := r.check.gangs[at.container]
		var has cluster.Resources
		for rank, m := range rec.Members {
			if m.Node == at.node && (rec.Phase == gang.Active || rec.Phase == gang.Clearing) {
				has = has.Plus(r.containerRoom(at.container, rank))
			}
		}
		if need.Memory > has.Memory {
			r.check.violate(29, "container %s (%s): %s are in use on %s, it has %s there", at.container, rec.Phase, need.Memory, at.node, has.Memory)
		}
	}
}

func (r *run) containerRoom(id cluster.VJobID, rank int) cluster.Resources {
	for _, container := range r.extras.containers {
		if container.ID == id {
			return container.VMs[rank].Reserved
		}
	}
	panic(fmt.Sprintf("container %s was not acknowledged", id))
}
