package scheduler

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
	"vjob/journal"
	"vjob/queue"
	"vjob/ruling"
)

// exile is a vjob that is set aside: a decision with it has failed, by an error that is
// no verdict or by a panic, and those without it go on.
type exile struct {
	version int       // of the vjob then; a changed one is tried at once
	until   time.Time // when it is tried again
	times   int       // in a row
	why     string
}

// suspect is a vjob with which a decision has failed.
type suspect struct {
	vjob cluster.VJobID
	why  string
}

// decideWithout takes a decision. Where it fails, the vjobs are found with which it does,
// and it is taken without them. The error is that it fails without any vjob as well.
func (s *Settings) decideWithout(p *picture) (d decision, found []suspect, err error) {
	d, fault := s.try(p)
	if fault == nil {
		return d, nil, nil
	}
	h := hunt{settings: s, picture: p, tries: mostTries}
	culprits := h.culprits()
	if len(culprits) == 0 {
		return d, nil, fault
	}
	reasons := map[cluster.VJobID]string{}
	for i, id := range culprits {
		others := slices.Delete(slices.Clone(culprits), i, i+1)
		why := fault
		if _, own := h.try(others); own != nil {
			why = own // with this one alone
		}
		reasons[id] = why.Error()
		found = append(found, suspect{id, reasons[id]})
	}
	p.setAside(reasons)
	d, err = s.try(p)
	return d, found, err
}

// try takes a decision and tells of a panic as an error.
func (s *Settings) try(p *picture) (d decision, fault error) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Errorf("panic: %v in %s", r, origin(string(debug.Stack())))
		}
	}()
	d = s.decide(p)
	return d, d.fault
}

// origin is the function that has panicked, by the stack.
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

// hunt looks for the vjobs with which a decision fails, by trying without some.
type hunt struct {
	settings *Settings
	picture  *picture
	tries    int // that are left
}

// mostTries bounds the hunt: it finds one vjob among a million, or some dozen among
// thousands. Beyond that vjobs are set aside by groups, and sorted out at the next try.
const mostTries = 64

// culprits are few vjobs without which a decision succeeds; none: it fails without any.
func (h *hunt) culprits() []cluster.VJobID {
	var suspects []cluster.VJobID
	for i := range h.picture.reports {
		if id := h.picture.reports[i].Job.ID; h.picture.aside[id] == "" {
			suspects = append(suspects, id)
		}
	}
	if h.fails(suspects) {
		return nil
	}
	return h.among(suspects, nil)
}

// among are those of the suspects that have to be out beside others that are: with only
// the others out the decision fails, without the suspects as well it succeeds.
func (h *hunt) among(suspects, out []cluster.VJobID) []cluster.VJobID {
	if len(suspects) == 1 || h.tries <= 0 {
		return suspects
	}
	half := len(suspects) / 2
	first, second := suspects[:half], suspects[half:]
	withFirst, withSecond := slices.Concat(out, first), slices.Concat(out, second)
	if !h.fails(withFirst) {
		return h.among(first, out)
	}
	if !h.fails(withSecond) {
		return h.among(second, out)
	}
	found := h.among(second, withFirst)
	if out = slices.Concat(out, found); h.fails(out) {
		found = slices.Concat(found, h.among(first, out))
	}
	return found
}

func (h *hunt) fails(without []cluster.VJobID) bool {
	_, fault := h.try(without)
	return fault != nil
}

// try takes a decision without some vjobs, and leaves the picture as it is.
func (h *hunt) try(without []cluster.VJobID) (decision, error) {
	h.tries--
	trial := h.picture.copy()
	trial.thorough = true
	reasons := make(map[cluster.VJobID]string, len(without))
	for _, id := range without {
		reasons[id] = "it is not looked at"
	}
	trial.setAside(reasons)
	return h.settings.try(trial)
}

// copy is the picture with those parts of its own that [picture.setAside] changes.
func (p *picture) copy() *picture {
	c := *p
	c.current, c.intended = p.current.Clone(), p.intended.Clone()
	c.pinned, c.confined, c.aside = maps.Clone(p.pinned), maps.Clone(p.confined), maps.Clone(p.aside)
	return &c
}

// setAside takes vjobs out of the picture. What runs of them stays where it is.
func (p *picture) setAside(without map[cluster.VJobID]string) {
	if len(without) == 0 {
		return
	}
	maps.Copy(p.aside, without)
	p.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r ruling.Rules) bool { return without[r.VJob] != "" })
	p.line = slices.DeleteFunc(slices.Clone(p.line), func(a ctxswitch.Applicant) bool { return without[a.VJob] != "" })
	for i := range p.reports {
		if job := p.reports[i].Job; without[job.ID] != "" {
			for k := range job.VMs {
				p.confine(job.VMs[k].ID)
			}
		}
	}
}

// confine leaves a VM where it runs or stands still, and forgets it if it is nowhere.
func (p *picture) confine(vm cluster.VMID) {
	for _, c := range []*cluster.Configuration{p.current, p.intended} {
		if state, known := c.State(vm); known && (state == cluster.VMRunning || state == cluster.VMPaused) {
			p.pinned[vm], p.confined[vm] = true, true
		} else {
			c.Remove(vm)
		}
	}
}

// ofExile is the verdict on a vjob that is set aside.
func (p *picture) ofExile(r *execute.Report) queue.Verdict {
	why := "it is set aside: " + p.aside[r.Job.ID]
	switch {
	case !r.Idle || r.Blind:
		return queue.Verdict{Wish: bound(r), Reason: "is " + r.Job.State.String() + "; " + why}
	case r.Job.State == cluster.Running:
		return queue.Verdict{Wish: queue.Run, Reason: "runs; " + why}
	default:
		return queue.Verdict{Wish: queue.Stay, Reason: "waits: " + why}
	}
}

// exiles takes those out of the picture whose time has not come again.
func (c *Core) exiles(p *picture) {
	without := map[cluster.VJobID]string{}
	for i := range p.reports {
		job := p.reports[i].Job
		e, known := c.aside[job.ID]
		if !known || e.version != job.Version || !c.now.Before(e.until) {
			continue
		}
		without[job.ID] = fmt.Sprintf("%s; next try in %s", e.why, e.until.Sub(c.now).Round(time.Second))
		c.retry(e.until)
	}
	p.setAside(without)
}

// judge remembers with whom the decision on a picture failed, and forgets those with
// whom it did not.
func (c *Core) judge(p *picture, found []suspect) {
	for id := range c.aside {
		if p.aside[id] == "" {
			delete(c.aside, id)
		}
	}
	for _, s := range found {
		r, ok := c.exec.Job(s.vjob)
		if !ok {
			continue
		}
		e := exile{version: r.Job.Version, times: c.aside[s.vjob].times + 1, why: s.why}
		pause := c.backoff(e.times)
		e.until = c.now.Add(pause)
		c.aside[s.vjob] = e
		c.retry(e.until)
		c.alarm(s.vjob, fmt.Sprintf("vjob %s is set aside for %s, no decision can be taken with it: %s", s.vjob, pause, s.why))
	}
}

// despair tells that no decision can be taken, not oftener than it tries by itself.
func (c *Core) despair(err error) {
	if c.now.Before(c.missed.until) {
		c.retry(c.missed.until)
		return
	}
	c.missed.times++
	pause := c.backoff(c.missed.times)
	c.missed.until = c.now.Add(pause)
	c.retry(c.missed.until)
	c.alarm(0, fmt.Sprintf("no decision can be taken, next try in %s: %s", pause, err))
}

func (c *Core) alarm(id cluster.VJobID, text string) {
	c.out.Events = append(c.out.Events, journal.Event{At: c.now, Kind: journal.EventAlarm, VJob: id, Text: text})
}

// backoff is how long a vjob is left alone after so many failures in a row.
func (c *Core) backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return c.settings.Backoff << min(failures-1, 6)
}
