package decide

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
)

// gates are what keeps a vjob from starting, in the order of precedence: a vjob that several gates
// bar has the reason of the first. Only three things stand outside. A vjob in quarantine is not
// looked at, and a vjob that its owner holds asks for nothing. Quotas come after the gates, since
// they depend on the vjobs that are selected (quotas.go).
var gates = []struct {
	name string
	bar  func(e *eligibility)
}{
	{"placement rules", (*eligibility).barInvalidRules},
	{"dependencies", (*eligibility).barDependent},
	{"missing image", (*eligibility).barWithoutImage},
	{"back-off", (*eligibility).barFailed},
	{"a paused vjob that resumes first", (*eligibility).barBeforePaused},
	{"start window", (*eligibility).barOutsideWindow},
	{"energy price", (*eligibility).barExpensive},
	{"array limit", (*eligibility).barArray},
	{"approval", (*eligibility).barUnapproved},
}

// Bar is why a vjob must not start now.
type Bar struct {
	Reason string
	// Until is set if the vjob waits only for that instant.
	Until time.Time
}

// eligibility is the stage of the gates.
type eligibility struct {
	*View
}

// applyGates finds the vjobs that must not start now.
func (v *View) applyGates() {
	e := &eligibility{v}
	for _, g := range gates {
		g.bar(e)
	}
}

// bar makes a vjob ineligible, unless an earlier gate has done so.
func (e *eligibility) bar(id cluster.VJobID, b Bar) {
	if e.ineligible[id].Reason == "" {
		e.ineligible[id] = b
	}
}

func (e *eligibility) barInvalidRules() {
	for id, why := range e.Invalid.VJobs {
		e.bar(id, Bar{Reason: why})
	}
}

func (e *eligibility) barDependent() {
	for id, why := range e.facts.Waits {
		if why != "" {
			e.bar(id, Bar{Reason: why})
		}
	}
}

func (e *eligibility) barWithoutImage() {
	for i := range e.VJobs {
		if r := &e.VJobs[i]; r.Missing != "" {
			e.bar(r.Job.ID, Bar{Reason: r.Missing})
		}
	}
}

// barFailed makes vjobs wait that have just failed, and keeps them off the nodes that refused them.
func (e *eligibility) barFailed() {
	for i := range e.VJobs {
		r := &e.VJobs[i]
		if until := r.Failed.Add(e.settings.Pause(r.Failures)); r.Failures > 0 && e.facts.Now.Before(until) {
			e.bar(r.Job.ID, Bar{Reason: fmt.Sprintf("tried %s, next try in %s: %s",
				cluster.Count(r.Failures, "time"), until.Sub(e.facts.Now).Round(time.Second), r.Why)})
			e.recheck(until)
		}
		if until := r.Failed.Add(avoidFor); len(r.Refusals) > 0 && e.facts.Now.Before(until) {
			for _, refusal := range r.Refusals {
				e.layout.avoid[refusal.VM] = append(e.layout.avoid[refusal.VM], refusal.Node)
			}
			e.recheck(until)
		}
	}
}

// avoidFor is how long after its last failed attempt a vjob avoids the nodes on which it failed.
const avoidFor = 10 * time.Minute

// barBeforePaused makes vjobs wait that are not in memory while a paused vjob could not be saved for
// them, as when image space is missing. Without them the paused vjob can resume and end; otherwise
// all would wait for ever. It holds for one decision: until the next attempt to save it the others
// come first again.
func (e *eligibility) barBeforePaused() {
	stuck := slices.IndexFunc(e.VJobs, func(r execute.Report) bool {
		return r.Job.State == cluster.Paused && r.Failures > 0 && !r.Job.Held && r.Idle && !r.Blind && e.ineligible[r.Job.ID].Reason == ""
	})
	if stuck < 0 {
		return
	}
	why := fmt.Sprintf("vjob %s, which stands still in memory, could not be saved and goes on first", e.VJobs[stuck].Job.ID)
	for job := range e.jobs() {
		if startsFromDisk(job) {
			e.bar(job.ID, Bar{Reason: why})
		}
	}
}

// startsFromDisk reports whether a vjob waits to start or to resume, and is not in memory.
func startsFromDisk(job *cluster.VJob) bool { return job.State.Ready() && job.State != cluster.Paused }

// barOutsideWindow makes vjobs wait for the beginning of their start window. Its end is an instant
// at which the view changes.
func (e *eligibility) barOutsideWindow() {
	for i := range e.VJobs {
		r := &e.VJobs[i]
		if r.Job.State != cluster.Waiting || r.Began {
			continue
		}
		if e.facts.Now.Before(r.Job.NotAfter) {
			e.recheck(r.Job.NotAfter)
		}
		if from := r.Job.NotBefore; e.facts.Now.Before(from) {
			e.recheck(from)
			e.bar(r.Job.ID, Bar{Until: from, Reason: "until " + from.UTC().Format("2006-01-02 15:04:05 MST") + ", as it was asked for"})
		}
	}
}

// barArray makes the waiting vjobs of an array wait beyond its limit of concurrent vjobs. A vjob
// that has begun counts until it ends.
func (e *eligibility) barArray() {
	left := map[cluster.VJobID]int{}
	for i := range e.VJobs {
		r := &e.VJobs[i]
		if r.Job.MaxConcurrent == 0 || r.Job.Array == 0 {
			continue
		}
		if _, known := left[r.Job.Array]; !known {
			left[r.Job.Array] = r.Job.MaxConcurrent
		}
		if !waitsToBegin(r) {
			left[r.Job.Array]--
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range e.VJobs {
		r := &e.VJobs[i]
		n, limited := left[r.Job.Array]
		if !limited || !waitsToBegin(r) || r.Job.Held || e.barred(r.Job.ID) {
			continue
		}
		if n <= 0 {
			e.bar(r.Job.ID, Bar{Reason: fmt.Sprintf("array %s runs %d of its vjobs at once", r.Job.Array, r.Job.MaxConcurrent)})
			continue
		}
		left[r.Job.Array]--
	}
}

// waitsToBegin reports whether a vjob waits and nothing has begun for it.
func waitsToBegin(r *execute.Report) bool { return r.Job.State == cluster.Waiting && r.Idle }
