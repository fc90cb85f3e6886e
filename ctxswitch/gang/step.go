package gang

import (
	"cmp"
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Step decides what to do with a gang, given its record and what is seen. It
// calls nothing and remembers nothing: the same arguments give the same turn, so
// it may be asked again at any time, after a reply, a crash or nothing at all.
//
// When the turn has changed the record, a further step may be taken at once with
// the new record and the same input.
func Step(rec Record, s Input) Turn {
	t := &turn{Input: s, rec: rec.Clone()}
	t.step()
	return Turn{Record: *t.rec, Changed: t.changed, Chains: t.chains, Wait: t.wait, Alarms: t.alarms, Hold: t.hold}
}

func (t *turn) step() {
	// While a silent node may hold a copy, nothing is done with the gang (I16), with one
	// exception. A gang that is being paused, or turns back from that, has no images, and no
	// member on its way to another node: the members that are seen continue.
	if blind := t.blind(); len(blind) > 0 {
		t.waitFor("keeps still: " + join(blind) + " may hold a copy and does not answer")
		switch {
		case t.rec.Phase == Pausing && (t.quiet() || suspension{t}.overdue()):
			suspension{t}.back(join(blind) + " does not answer")
		case t.rec.Phase == Resuming && t.rec.Then == ThenBack:
			restoration{t}.resuming()
		}
		return
	}
	if t.rec.Phase.Stable() {
		t.noteNewer()
	}
	t.clearStale()
	if t.noteEndings() {
		return
	}
	switch t.rec.Phase {
	case Absent:
		t.absent()
	case Creating:
		t.creating()
	case Active:
		t.active()
	case Pausing:
		suspension{t}.pausing()
	case Paused:
		t.paused()
	case Saving:
		suspension{t}.saving()
	case Saved:
		restoration{t}.saved()
	case Restoring:
		restoration{t}.restoring()
	case Resuming:
		restoration{t}.resuming()
	case Moving, Shifting:
		migration{t}.moving()
	case Clearing:
		clearance{t}.clearing()
	}
}

// clearStale destroys copies of an earlier life of the vjob: they are explained
// by older intents, and nothing of them is wanted any more. Copies of a boot that the
// record does not know are not explained by anything: they are only reported.
func (t *turn) clearStale() {
	for rank := range t.Sights {
		for _, f := range t.Sights[rank].Found {
			switch {
			case f.Stamp.Incarnation > t.rec.boots():
				t.alarms = append(t.alarms, fmt.Sprintf("%s on %s has incarnation %d, later than the record's %d: left alone",
					f.VM, f.Node, f.Stamp.Incarnation, t.rec.boots()))
			case f.Stamp.Incarnation != t.rec.Incarnation && !t.Sights[rank].Busy:
				t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
				t.Sights[rank].Busy = true
			}
		}
	}
}

// noteEndings records the members with a guest that shut itself down, and loses the gang when a
// guest left otherwise. It reports whether the record was changed, or the step has to wait for
// the cause of a departure: then the step ends.
//
// After false, each member that takes part and is not busy has a copy, except while the gang is
// booted or a node is silent. The functions of the other phases named here rely on it: pausing,
// keepCopies and moving read own[0] unchecked.
func (t *turn) noteEndings() bool {
	if !t.rec.Phase.HasCopies() {
		return false
	}
	unclear := false
	for rank := range t.rec.Members {
		m, s := &t.rec.Members[rank], &t.Sights[rank]
		if m.Ended || s.Busy {
			continue
		}
		own := t.own(rank)
		if len(own) == 1 && own[0].State == hypervisor.CopyDead {
			t.lose(fmt.Sprintf("%s crashed on %s", own[0].VM, own[0].Node))
			return true
		}
		if len(own) > 0 {
			continue
		}
		switch {
		case s.Gone && s.Cause == hypervisor.CauseShutdown:
			m.Ended, m.Next, m.Exit = true, "", cmp.Or(s.Exit, cluster.UnknownExit)
			t.changed = true
		case t.rec.Phase == Creating && !s.Gone:
			// It was never seen: the boot is still to be made, or to be made again.
		case s.Fenced:
			t.lose(fmt.Sprintf("%s was on %s, which is down", t.VJob.VMs[rank].ID, m.Node))
			return true
		case s.Gone:
			t.lose(fmt.Sprintf("%s ended: %s", t.VJob.VMs[rank].ID, s.Cause))
			return true
		case s.Absent < t.Limits.DepartureGrace:
			// A look can be faster than the event that reports how the guest left.
			t.waitFor(fmt.Sprintf("%s is no longer on %s: waits for the cause", t.VJob.VMs[rank].ID, m.Node))
			unclear = true
		default:
			t.lose(fmt.Sprintf("%s is no longer on %s: cause unknown", t.VJob.VMs[rank].ID, m.Node))
			return true
		}
	}
	switch {
	case t.changed && t.allEnded():
		t.complete("all its VMs have shut themselves down")
	case t.changed && t.VJob.LeaderEnds && t.rec.Members[0].Ended:
		t.complete("its first VM has shut itself down")
	}
	return t.changed || unclear
}

// complete ends a vjob after its guests have shut themselves down, as their exit statuses say.
func (t *turn) complete(text string) {
	status, rank, succeeded := t.VJob.Result(t.rec.Exits())
	switch name := t.VJob.VMs[rank].ID; {
	case succeeded:
		t.enter(Clearing, ThenComplete, &cluster.Cause{Kind: cluster.CauseShutdown, Text: text})
	case status.Signal() > 0:
		t.unsuccessful("the work of VM %s was ended by signal %d", name, status.Signal())
	case status.Known():
		t.unsuccessful("the work of VM %s ended with exit code %d", name, status.Code())
	default:
		t.unsuccessful("VM %s shut down without telling the exit status of its command", name)
	}
}

func (t *turn) unsuccessful(format string, args ...any) {
	t.enter(Clearing, ThenUnsuccessful, &cluster.Cause{Kind: cluster.CauseExit, Text: fmt.Sprintf(format, args...)})
}

func (t *turn) allEnded() bool {
	for rank := range t.rec.Members {
		if t.live(rank) {
			return false
		}
	}
	return true
}

// absent has nothing to do but to remove what should not be there: a boot that
// was given up may still have happened.
func (t *turn) absent() {
	for rank := range t.rec.Members {
		if t.Sights[rank].Busy {
			continue
		}
		for _, f := range t.own(rank) {
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
		}
	}
	t.discard(func(hypervisor.Image) bool { return true }) // that were kept for long enough
}

// creating boots every member on its node as soon as it may.
func (t *turn) creating() {
	if t.Retreat != "" {
		t.enter(Clearing, ThenWait, aborted(t.Retreat))
		return
	}
	done := true
	for rank := range t.rec.Members {
		m, s := &t.rec.Members[rank], &t.Sights[rank]
		if m.Ended {
			continue
		}
		own := t.own(rank)
		if !s.Busy && len(own) == 1 && own[0].State == hypervisor.CopyRunning {
			continue
		}
		done = false
		switch {
		case s.Busy:
		case len(own) == 1 && own[0].State == hypervisor.CopyPaused:
			t.call(rank, hypervisor.Call{Verb: hypervisor.Unpause, Node: own[0].Node})
		case s.Tries >= t.Limits.MaxTries:
			t.enter(Clearing, ThenWait, aborted(fmt.Sprintf("%s does not boot on %s: %v", t.VJob.VMs[rank].ID, m.Next, s.Err)))
			return
		default:
			t.boot(rank)
		}
	}
	if !done {
		t.waitFor("boots")
		return
	}
	for i := range t.rec.Members {
		m := &t.rec.Members[i]
		m.Node, m.Next = m.Next, ""
	}
	t.enter(Active, ThenNothing, t.rec.Cause)
}

func (t *turn) boot(rank int) {
	vm := &t.VJob.VMs[rank]
	call := hypervisor.Call{
		Verb: hypervisor.Boot, VM: vm.ID, Node: t.rec.Members[rank].Next,
		Stamp: hypervisor.Stamp{Incarnation: t.rec.Incarnation, Epoch: t.Epoch},
		Machine: &hypervisor.Machine{
			Name: fmt.Sprintf("%s/%d", t.VJob.Name, rank), Members: len(t.VJob.VMs),
			Reserved: vm.Reserved, Payload: t.VJob.Payload(rank),
		},
	}
	if t.May(call) {
		t.call(rank, call)
	}
}

// active keeps a running gang as the record says: one running copy of each
// member. What a cut migration or a late call left behind is put right here.
//
// Images of members that run are used, and go.
func (t *turn) active() {
	t.keepCopies(hypervisor.CopyPaused, func(rank int, f Found) {
		t.call(rank, hypervisor.Call{Verb: hypervisor.Unpause, Node: f.Node})
	})
	t.discard(func(image hypervisor.Image) bool {
		rank := image.ID.VM.Rank
		own := t.own(rank)
		return !t.live(rank) || len(own) == 1 && own[0].State == hypervisor.CopyRunning
	})
}

// keepCopies keeps one copy of each member of a gang that is Active or Paused. right corrects a copy that
// is found in the wrong state.
func (t *turn) keepCopies(wrong hypervisor.CopyState, right func(rank int, f Found)) {
	for rank := range t.rec.Members {
		if !t.live(rank) || t.Sights[rank].Busy {
			continue
		}
		own := t.own(rank) // not empty: see noteEndings
		switch {
		case len(own) > 1:
			if !t.oneOf(rank, own) {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			t.underWay(rank, own[0])
		case own[0].State == wrong:
			right(rank, own[0])
		case own[0].Node != t.rec.Members[rank].Node:
			t.rec.Members[rank].Node = own[0].Node // a migration that ended by itself
			t.changed = true
		}
	}
}

// oneOf leaves one of several copies of a member: the one that runs, and of
// paused ones the destination, which is complete when no job is under way on it.
// Two that run have diverged, and no choice between them would be right: the
// gang is lost. It reports false then.
func (t *turn) oneOf(rank int, own []Found) bool {
	keep, running := own[0], 0
	if f, ok := working(own); ok {
		if f.Job == hypervisor.JobIncoming && alone(own) {
			t.call(rank, hypervisor.Call{Verb: hypervisor.Abort, Node: f.Node})
			return true
		}
		t.underWay(rank, f)
		return true
	}
	for _, f := range own {
		if f.State == hypervisor.CopyDead {
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
			return true
		}
		if f.State == hypervisor.CopyRunning {
			running++
			keep = f
		}
	}
	if running > 1 {
		t.lose(fmt.Sprintf("%s runs on %d nodes at once: its copies have diverged", keep.VM, running))
		return false
	}
	if running == 0 {
		for _, f := range own {
			if f.Node != t.rec.Members[rank].Node {
				keep = f
			}
		}
	}
	for _, f := range own {
		if f.Node != keep.Node {
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
		}
	}
	return true
}

// working returns a copy that has a job: of a migration the source, where it can
// be cancelled.
func working(own []Found) (f Found, ok bool) {
	for _, c := range own {
		if c.Job == hypervisor.JobOutgoing || c.Job != hypervisor.JobNone && !ok {
			f, ok = c, true
		}
	}
	return f, ok
}

// alone reports whether a copy comes in that no other copy sends: the migration was cut,
// and the copy will never be whole.
func alone(own []Found) bool {
	idle := 0
	for _, c := range own {
		if c.Job == hypervisor.JobNone {
			idle++
		}
	}
	return idle == len(own)-1
}
