package scheduler

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/journal"
	"vjob/scheduler/pass"
)

// exile is a vjob that is set aside: a decision with it has failed, and those without it
// go on.
type exile struct {
	pass.Exile
	version int // of the vjob then; a changed one is tried at once
	times   int // in a row
}

// exiles are those of the vjobs whose time has not come again.
func (c *Core) exiles(vjobs []execute.Report) map[cluster.VJobID]pass.Exile {
	if len(c.aside) == 0 {
		return nil
	}
	list := map[cluster.VJobID]pass.Exile{}
	for i := range vjobs {
		job := vjobs[i].Job
		if e, known := c.aside[job.ID]; known && e.version == job.Version && c.now.Before(e.Until) {
			list[job.ID] = e.Exile
		}
	}
	return list
}

// judge remembers with whom a decision has failed, and forgets those with whom it has not.
func (c *Core) judge(exiles map[cluster.VJobID]pass.Exile, suspects []pass.Suspect) {
	for id := range c.aside {
		_, out := exiles[id]
		if !out && !slices.ContainsFunc(suspects, func(s pass.Suspect) bool { return s.VJob == id }) {
			delete(c.aside, id)
		}
	}
	for _, s := range suspects {
		r, ok := c.exec.Job(s.VJob)
		if !ok {
			continue
		}
		e := exile{version: r.Job.Version, times: c.aside[s.VJob].times + 1}
		pause := c.settings.Pause(e.times)
		e.Exile = pass.Exile{Why: s.Why, Until: c.now.Add(pause)}
		c.aside[s.VJob] = e
		c.retry(e.Until)
		c.alarm(s.VJob, fmt.Sprintf("vjob %s is set aside for %s, no decision can be taken with it: %s", s.VJob, pause, s.Why))
	}
}

// despair tells that no decision can be taken, not oftener than it tries by itself.
func (c *Core) despair(err error) {
	if c.now.Before(c.missed.Until) {
		c.retry(c.missed.Until)
		return
	}
	c.missed.times++
	pause := c.settings.Pause(c.missed.times)
	c.missed.Until = c.now.Add(pause)
	c.retry(c.missed.Until)
	c.alarm(0, fmt.Sprintf("no decision can be taken, next try in %s: %s", pause, err))
}

func (c *Core) alarm(id cluster.VJobID, text string) {
	c.out.Events = append(c.out.Events, journal.Event{At: c.now, Kind: journal.EventAlarm, VJob: id, Text: text})
}
