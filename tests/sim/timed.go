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

// timed reports whether the vjobs of a run have walltimes, and some of them reservations,
// alternatives, or others inside: every seventh run.
func (o *Options) timed() bool { return o.Seed%7 == 3 }

// timer is whoever makes something special of the submissions of such a run. It has chances
// of its own, so that all other runs are the same with and without it.
type timer struct {
	chance *rand.Rand
	boxes  []*cluster.VJob                    // containers
	inner  map[cluster.VJobID]cluster.VJobID  // their containers
	begins map[cluster.VJobID]time.Time       // reservations
	shapes map[cluster.VJobID][]cluster.Shape // of moldable vjobs
	late   map[cluster.VJobID]bool            // reservations that were told of
}

func newTimer(seed uint64) timer {
	return timer{
		chance: rand.New(rand.NewPCG(seed, 0x71e5)), inner: map[cluster.VJobID]cluster.VJobID{},
		begins: map[cluster.VJobID]time.Time{}, shapes: map[cluster.VJobID][]cluster.Shape{}, late: map[cluster.VJobID]bool{},
	}
}

// time gives a submission a walltime, and maybe more.
func (r *run) time(sub *admission.Submission) {
	if !r.opts.timed() {
		return
	}
	t := &r.timer
	longest := time.Duration(0)
	for _, vm := range sub.VMs {
		work := time.Duration(0)
		for _, step := range vm.Payload.Program.Steps {
			work += step.Duration
		}
		longest = max(longest, work)
	}
	sub.Walltime = longest + time.Duration(t.chance.IntN(180))*time.Second
	switch t.chance.IntN(5) {
	case 0:
		sub.Array, sub.MaxConcurrent, sub.After, sub.BestEffort = nil, 0, nil, false
		sub.Reservation = r.shell.Now().Add(time.Duration(1+t.chance.IntN(500)) * time.Second)
	case 1:
		sub.Idempotent = false
		sub.Shapes = t.mold(sub)
	case 2:
		sub.Array, sub.MaxConcurrent, sub.BestEffort, sub.Idempotent = nil, 0, false, false
		sub.Container, sub.Preemption = true, cluster.Never
		sub.Walltime += time.Duration(5+t.chance.IntN(5)) * time.Minute
	default:
		t.enclose(sub)
	}
	if !sub.Container && sub.Inner == 0 && t.chance.IntN(4) == 0 {
		sub.Rules = "root($VMS);"
	}
}

// mold gives a submission alternatives with fewer VMs and more time.
func (t *timer) mold(sub *admission.Submission) []cluster.Shape {
	shapes := []cluster.Shape{{VMs: sub.VMs, Walltime: sub.Walltime, Rules: sub.Rules}}
	for n := len(sub.VMs) - 1; n > 0; n-- {
		shapes = append(shapes, cluster.Shape{VMs: slices.Clone(sub.VMs[:n]), Walltime: sub.Walltime + time.Duration(t.chance.IntN(300))*time.Second})
	}
	if len(shapes) == 1 {
		return nil
	}
	return shapes
}

// enclose puts a submission into a container, if there is one.
func (t *timer) enclose(sub *admission.Submission) {
	if len(t.boxes) == 0 || t.chance.IntN(3) == 0 {
		return
	}
	box := t.boxes[t.chance.IntN(len(t.boxes))]
	sub.Inner, sub.Owner, sub.Idempotent, sub.Rules = box.ID, box.Owner, false, ""
	sub.VMs = sub.VMs[:min(len(sub.VMs), len(box.VMs))]
	if t.chance.IntN(3) == 0 {
		sub.Walltime = 0
	}
	if !slices.ContainsFunc(sub.After, func(cluster.Dependency) bool { return true }) {
		sub.Unmet = 0
	}
}

// note keeps what was acknowledged.
func (t *timer) note(jobs []*cluster.VJob) {
	for _, job := range jobs {
		if job.Container {
			t.boxes = append(t.boxes, job)
		}
		if job.Inner != 0 {
			t.inner[job.ID] = job.Inner
		}
		if !job.Reservation.IsZero() {
			t.begins[job.ID] = job.Reservation
		}
		if len(job.Shapes) > 0 {
			t.shapes[job.ID] = job.Shapes
		}
	}
}

// inTime checks that no reservation begins before its time; and where nothing goes wrong,
// nobody meddles, and there is power and space for images, that it begins then, whatever
// its rules.
func (r *run) inTime() {
	strict := r.opts.quiet() && r.opts.Static && r.opts.Crashes == 0 && r.opts.CrashAt == 0 && !r.opts.rationed() && !r.opts.cramped()
	for id, at := range r.timer.begins {
		c, known := r.check.jobs[id]
		now := r.shell.Now()
		switch begun := known && c.State != cluster.Waiting; {
		case begun && now.Before(at) && !c.State.Terminal():
			r.check.violate(27, "vjob %s is %s before its reservation at %s", id, c.State, at.Format(time.TimeOnly))
		case !begun && strict && now.Sub(at) > lateness && !r.timer.late[id]:
			r.timer.late[id] = true
			r.check.violate(27, "vjob %s does not begin at its reservation at %s: %s", id, at.Format(time.TimeOnly), r.why(id))
		}
	}
}

// lateness is how long after its time a reservation may begin: what stood in its way has
// moved by then.
const lateness = 2 * time.Second

// inShape checks that a moldable vjob has the copies of one of its shapes and no others.
func (r *run) inShape() {
	if len(r.timer.shapes) == 0 {
		return
	}
	for _, c := range r.cluster.Truth().Copies {
		shapes, moldable := r.timer.shapes[c.VM.VJob]
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

// isInside checks that what runs inside a container is where it has room, and there is no
// more of it than room.
func (r *run) isInside() {
	if len(r.timer.inner) == 0 {
		return
	}
	type spot struct {
		box  cluster.VJobID
		node cluster.NodeID
	}
	used := map[spot]cluster.Resources{}
	for _, c := range r.cluster.Truth().Copies {
		box, inner := r.timer.inner[c.VM.VJob]
		if rec := r.check.gangs[c.VM.VJob]; inner && c.Stamp.Incarnation == rec.Incarnation && rec.Phase != gang.Absent {
			at := spot{box, c.Node}
			used[at] = used[at].Plus(cluster.Resources{Memory: c.Reserved.Memory})
		}
	}
	for at, need := range used {
		rec := r.check.gangs[at.box]
		var has cluster.Resources
		for rank, m := range rec.Members {
			if m.Node == at.node && (rec.Phase == gang.Active || rec.Phase == gang.Clearing) {
				has = has.Plus(r.boxRoom(at.box, rank))
			}
		}
		if need.Memory > has.Memory {
			r.check.violate(29, "inside container %s, which is %s, %s are in use on %s, and %s are its own", at.box, rec.Phase, need.Memory, at.node, has.Memory)
		}
	}
}

func (r *run) boxRoom(id cluster.VJobID, rank int) cluster.Resources {
	for _, box := range r.timer.boxes {
		if box.ID == id {
			return box.VMs[rank].Reserved
		}
	}
	panic(fmt.Sprintf("container %s was not acknowledged", id))
}
