package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
)

// gates are what keeps a vjob from starting, in the order of precedence: a vjob that several gates
// bar has the reason of the first. Only three things stand outside. A vjob in quarantine is not
// looked at, and a vjob that its owner holds asks for nothing. Quotas come after the gates, since
// they depend on the vjobs that are selected (quotas.go).
var gates = []struct {
	name string
	bar  func(v *View)
}{
	{"placement rules", (*View).barInvalidRules},
	{"dependencies", (*View).barDependent},
	{"missing image", (*View).barWithoutImage},
	{"back-off", (*View).barFailed},
	{"a paused vjob that resumes first", (*View).barBeforePaused},
	{"start window", (*View).barOutsideWindow},
	{"energy price", (*View).barExpensive},
	{"array limit", (*View).barArray},
}

// Bar is why a vjob must not start now.
type Bar struct {
	Reason string
	// Until is set if the vjob waits only for that instant.
	Until time.Time
}

// InvalidRules are the rules that can no longer be parsed or kept, and why.
type InvalidRules struct {
	Cluster []string
	VJobs   map[cluster.VJobID]string
}

// applyGates finds the vjobs that must not start now.
func (v *View) applyGates() {
	for _, g := range gates {
		g.bar(v)
	}
}

// bar makes a vjob ineligible, unless an earlier gate has done so.
func (v *View) bar(id cluster.VJobID, b Bar) {
	if v.ineligible[id].Reason == "" {
		v.ineligible[id] = b
	}
}

// attachRules takes in the rules of the cluster and of each vjob. A vjob whose rules can no longer
// be parsed or kept goes on without them if it runs.
func (v *View) attachRules() {
	nodes := v.Nodes()
	for _, text := range v.facts.Rules {
		rules := placement.Rules{Text: text}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := v.facts.Reader.Wrong(rules, nodes); err != nil {
			v.Invalid.Cluster = append(v.Invalid.Cluster, err.Error())
			continue
		}
		v.layout.rules = append(v.layout.rules, rules)
	}
	for i, at := range v.eachVJob {
		job := v.VJobs[i].Job
		if job.Rules == "" {
			continue
		}
		rules := placement.Rules{VJob: job.ID, Text: job.Rules}
		switch err := v.facts.Reader.Wrong(rules, nodes); {
		case err != nil:
			if v.Invalid.VJobs == nil {
				v.Invalid.VJobs = map[cluster.VJobID]string{}
			}
			v.Invalid.VJobs[job.ID] = err.Error()
		case at >= 0:
			v.layout.applicants[at].Rules = job.Rules
		default:
			v.layout.rules = append(v.layout.rules, rules)
		}
	}
}

func (v *View) barInvalidRules() {
	for id, why := range v.Invalid.VJobs {
		v.bar(id, Bar{Reason: why})
	}
}

func (v *View) barDependent() {
	for id, why := range v.facts.Waits {
		if why != "" {
			v.bar(id, Bar{Reason: why})
		}
	}
}

func (v *View) barWithoutImage() {
	for i := range v.VJobs {
		if r := &v.VJobs[i]; r.Missing != "" {
			v.bar(r.Job.ID, Bar{Reason: r.Missing})
		}
	}
}

// barFailed makes vjobs wait that have just failed, and keeps them off the nodes that refused them.
func (v *View) barFailed() {
	for i := range v.VJobs {
		r := &v.VJobs[i]
		if until := r.Failed.Add(v.settings.Pause(r.Failures)); r.Failures > 0 && v.facts.Now.Before(until) {
			v.bar(r.Job.ID, Bar{Reason: fmt.Sprintf("tried %d times, next try in %s: %s",
				r.Failures, until.Sub(v.facts.Now).Round(time.Second), r.Why)})
			v.recheck(until)
		}
		if until := r.Failed.Add(avoidFor); len(r.Refusals) > 0 && v.facts.Now.Before(until) {
			for _, refusal := range r.Refusals {
				v.layout.avoid[refusal.VM] = append(v.layout.avoid[refusal.VM], refusal.Node)
			}
			v.recheck(until)
		}
	}
}

// avoidFor is how long after its last failed attempt a vjob avoids the nodes on which it failed.
const avoidFor = 10 * time.Minute

// barBeforePaused makes vjobs wait that are not in memory while a paused vjob could not be saved for
// them, as when image space is missing. Without them the paused vjob can resume and end; otherwise
// all would wait for ever. It holds for one decision: until the next attempt to save it the others
// come first again.
func (v *View) barBeforePaused() {
	stuck := slices.IndexFunc(v.VJobs, func(r execute.Report) bool {
		return r.Job.State == cluster.Paused && r.Failures > 0 && !r.Job.Held && r.Idle && !r.Blind && v.ineligible[r.Job.ID].Reason == ""
	})
	if stuck < 0 {
		return
	}
	why := fmt.Sprintf("vjob %s, which stands still in memory, could not be saved and goes on first", v.VJobs[stuck].Job.ID)
	for job := range v.jobs() {
		if startsFromDisk(job) {
			v.bar(job.ID, Bar{Reason: why})
		}
	}
}

// startsFromDisk reports whether a vjob waits to start or to resume, and is not in memory.
func startsFromDisk(job *cluster.VJob) bool { return job.State.Ready() && job.State != cluster.Paused }

// barOutsideWindow makes vjobs wait for the beginning of their start window. Its end is an instant
// at which the view changes.
func (v *View) barOutsideWindow() {
	for i := range v.VJobs {
		r := &v.VJobs[i]
		if r.Job.State != cluster.Waiting || r.Began {
			continue
		}
		if v.facts.Now.Before(r.Job.NotAfter) {
			v.recheck(r.Job.NotAfter)
		}
		if from := r.Job.NotBefore; v.facts.Now.Before(from) {
			v.recheck(from)
			v.bar(r.Job.ID, Bar{Until: from, Reason: "until " + from.UTC().Format("2006-01-02 15:04:05 MST") + ", as it was asked for"})
		}
	}
}

// barArray makes the waiting vjobs of an array wait beyond its limit of concurrent vjobs. A vjob
// that has begun counts until it ends.
func (v *View) barArray() {
	left := map[cluster.VJobID]int{}
	for i := range v.VJobs {
		r := &v.VJobs[i]
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
	for i := range v.VJobs {
		r := &v.VJobs[i]
		n, limited := left[r.Job.Array]
		if !limited || !waitsToBegin(r) || r.Job.Held || v.barred(r.Job.ID) {
			continue
		}
		if n <= 0 {
			v.bar(r.Job.ID, Bar{Reason: fmt.Sprintf("array %s runs %d of its vjobs at once", r.Job.Array, r.Job.MaxConcurrent)})
			continue
		}
		left[r.Job.Array]--
	}
}

// waitsToBegin reports whether a vjob waits and nothing has begun for it.
func waitsToBegin(r *execute.Report) bool { return r.Job.State == cluster.Waiting && r.Idle }
