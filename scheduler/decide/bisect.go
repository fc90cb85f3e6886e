package decide

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/queue"
)

// Suspect is a vjob that makes a decision fail.
type Suspect struct {
	VJob cluster.VJobID
	Why  string
}

// Decide takes a decision for the cluster and for the vjobs inside containers.
func (p *View) Decide() (d Decision, err error) {
	d, err = p.decideOne()
	if d.Verdicts != nil {
		p.decideInside(&d)
	}
	return d, err
}

// decideOne takes a decision on one view. If the decision fails, by a fault or by a panic,
// decideOne finds the vjobs that cause it and decides without them. It returns an error if the
// decision fails without any vjob as well.
func (p *View) decideOne() (d Decision, err error) {
	d, fault := p.try()
	if fault == nil {
		return d, nil
	}
	h := bisection{view: p, tries: maxTries}
	culprits := h.find()
	if len(culprits) == 0 {
		return d, fault
	}
	reasons, found := map[cluster.VJobID]string{}, make([]Suspect, 0, len(culprits))
	for i, id := range culprits {
		others := slices.Delete(slices.Clone(culprits), i, i+1)
		why := fault
		if _, own := h.try(others); own != nil {
			why = own // with this one alone
		}
		reasons[id] = why.Error()
		found = append(found, Suspect{id, reasons[id]})
	}
	p.exclude(reasons)
	d, err = p.try()
	d.Suspects = found
	return d, err
}

// try takes a decision and returns a panic as an error.
func (p *View) try() (d Decision, fault error) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Errorf("panic: %v in %s", r, origin(string(debug.Stack())))
		}
	}()
	d = p.decide()
	return d, d.fault
}

// origin returns the function that panicked, read from the stack.
func origin(stack string) string {
	_, after, _ := strings.Cut(stack, "\npanic(")
	for line := range strings.Lines(after) {
		name := line[:max(0, strings.LastIndexByte(line, '('))]
		if strings.Contains(name, "/") && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "runtime/") {
			return name
		}
	}
	return "an unknown place"
}

// bisection finds the vjobs that make a decision fail, by deciding without some of them.
type bisection struct {
	view  *View
	tries int // tries that are left
}

// maxTries bounds a bisection: it finds one vjob among a million, or some dozens among
// thousands. Beyond that whole groups are quarantined and sorted out at the next try.
const maxTries = 64

// find returns few vjobs without which a decision succeeds; none if it fails without any vjob.
func (h *bisection) find() []cluster.VJobID {
	var suspects []cluster.VJobID
	for i := range h.view.VJobs {
		if id := h.view.VJobs[i].Job.ID; h.view.quarantined[id] == "" {
			suspects = append(suspects, id)
		}
	}
	if h.fails(suspects) {
		return nil
	}
	return h.search(suspects, nil)
}

// search returns the suspects that must be left out beside out: leaving out only out fails,
// leaving out the suspects as well succeeds.
func (h *bisection) search(suspects, out []cluster.VJobID) []cluster.VJobID {
	if len(suspects) == 1 || h.tries <= 0 {
		return suspects
	}
	half := len(suspects) / 2
	first, second := suspects[:half], suspects[half:]
	withFirst, withSecond := slices.Concat(out, first), slices.Concat(out, second)
	if !h.fails(withFirst) {
		return h.search(first, out)
	}
	if !h.fails(withSecond) {
		return h.search(second, out)
	}
	found := h.search(second, withFirst)
	if out = slices.Concat(out, found); h.fails(out) {
		found = slices.Concat(found, h.search(first, out))
	}
	return found
}

func (h *bisection) fails(without []cluster.VJobID) bool {
	_, fault := h.try(without)
	return fault != nil
}

// try takes a decision without some vjobs and leaves the view unchanged.
func (h *bisection) try(without []cluster.VJobID) (Decision, error) {
	h.tries--
	trial := h.view.copy()
	trial.alwaysPlan = true
	reasons := make(map[cluster.VJobID]string, len(without))
	for _, id := range without {
		reasons[id] = "it is left out"
	}
	trial.exclude(reasons)
	return trial.try()
}

// copy returns the view with its own copies of what [View.exclude] changes.
func (p *View) copy() *View {
	c := *p
	c.current, c.intended = p.current.Clone(), p.intended.Clone()
	c.pinned, c.immovable, c.quarantined = maps.Clone(p.pinned), maps.Clone(p.immovable), maps.Clone(p.quarantined)
	c.nonPreemptible, c.ineligible, c.unsavable = maps.Clone(p.nonPreemptible), maps.Clone(p.ineligible), maps.Clone(p.unsavable)
	return &c
}

// exclude takes vjobs out of the view. Their running VMs stay in place.
func (p *View) exclude(without map[cluster.VJobID]string) {
	if len(without) == 0 {
		return
	}
	maps.Copy(p.quarantined, without)
	p.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r placement.Rules) bool { return without[r.VJob] != "" })
	p.applicants = slices.DeleteFunc(slices.Clone(p.applicants), func(a ctxswitch.Applicant) bool { return without[a.VJob] != "" })
	for i := range p.VJobs {
		if job := p.VJobs[i].Job; without[job.ID] != "" {
			for k := range job.VMs {
				p.fixInPlace(job.VMs[k].ID)
			}
		}
	}
}

// fixInPlace pins a VM that runs or is paused, and removes any other VM.
func (p *View) fixInPlace(vm cluster.VMID) {
	for _, c := range []*cluster.Configuration{p.current, p.intended} {
		if state, known := c.State(vm); known && (state == cluster.VMRunning || state == cluster.VMPaused) {
			p.pinned[vm], p.immovable[vm] = true, true
		} else {
			c.Remove(vm)
		}
	}
}

// quarantinedVerdict returns the verdict on a quarantined vjob.
func (p *View) quarantinedVerdict(r *execute.Report) queue.Verdict {
	why := "it is set aside: " + p.quarantined[r.Job.ID]
	switch {
	case !r.Idle || r.Blind:
		return queue.Verdict{Target: bound(r), Reason: "is " + r.Job.State.String() + "; " + why}
	case r.Job.State == cluster.Running:
		return queue.Verdict{Target: queue.Run, Reason: "runs; " + why}
	default:
		return queue.Verdict{Target: queue.Wait, Reason: "waits: " + why}
	}
}

// quarantine excludes the vjobs that are still in quarantine.
func (p *View) quarantine(list map[cluster.VJobID]Quarantined) {
	without := make(map[cluster.VJobID]string, len(list))
	for id, e := range list {
		without[id] = fmt.Sprintf("%s; next try in %s", e.Why, e.Until.Sub(p.now).Round(time.Second))
		p.recheck(e.Until)
	}
	p.exclude(without)
}
