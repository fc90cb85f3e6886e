package decide

import (
	"fmt"
	"math"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/price"
)

// barExpensive delays the first start of flexible vjobs until their energy costs least, if that
// saves enough.
func (e *eligibility) barExpensive() {
	prices, now := e.facts.Prices, e.facts.Now
	if prices == nil {
		return
	}
	perCPU := e.supply.PerCPU(e.Nodes())
	for i := range e.VJobs {
		r := &e.VJobs[i]
		if !e.shiftable(r) {
			continue
		}
		load := price.Load{Power: perCPU * energy.Watts(r.Job.Reserved().CPU) / energy.Watts(cluster.CPU), Duration: r.Job.Walltime / walltimeDivisor}
		choice := prices.CheapestStart(load, now, latestStart(r.Job), e.settings.Energy.ShiftSaves)
		if !choice.Waits(now) {
			continue
		}
		e.bar(r.Job.ID, Bar{Until: choice.At, Reason: delayReason(&choice, prices)})
		e.recheck(choice.At)
	}
}

// walltimeDivisor divides walltimes to estimate running times: any length up to the walltime is
// as likely. On a real log whole walltimes save nothing.
const walltimeDivisor = 2

// shiftable reports whether a vjob could wait for a lower price: it has never started, and nothing
// else blocks it.
func (e *eligibility) shiftable(r *execute.Report) bool {
	job := r.Job
	return job.Flexible > 0 && job.Walltime > 0 && job.State == cluster.Waiting && r.Idle && !r.Began && !job.Held && !e.barred(job.ID)
}

// latestStart returns until when a flexible vjob may wait by its slack and its deadline.
func latestStart(job *cluster.VJob) time.Time {
	latest := job.Submitted.Add(time.Duration(job.Flexible))
	if last := job.Deadline.Add(-job.Walltime); !job.Deadline.IsZero() && last.Before(latest) {
		latest = last
	}
	return latest
}

// delayReason returns why a vjob waits for a lower price, with the figures.
func delayReason(c *price.Choice, prices *price.Series) string {
	of := prices.Unit().Of
	return fmt.Sprintf("until %s, when its energy costs %s %s instead of %s at once (%.0f %% less)",
		c.At.UTC().Format("2006-01-02 15:04 MST"), amount(c.Cost), of, amount(c.ImmediateCost), 100*c.Saves())
}

// amount formats money or carbon to three digits.
func amount(v float64) string {
	if v == 0 || math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
