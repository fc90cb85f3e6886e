package drs

import (
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/price"
)

// Batch is deferrable work: some of the VMs are jobs, each submitted once a day at a random time. A
// job needs as much CPU as a VM by day while it runs, and nothing before and after.
type Batch struct {
	VMs   int
	Lasts time.Duration
	// Slack is how long a start may be put off. A job starts when its energy costs least,
	// by the prices; without any, at once.
	Slack time.Duration
	Waits bool // jobs use their slack
}

// check says what is wrong; the error names the field.
func (b *Batch) check(c *Config) error {
	switch {
	case b.VMs < 0 || b.VMs > c.VMs:
		return cluster.BadField("flexible", b.VMs, "a number of VMs from 0 to all of them")
	case b.VMs > 0 && (b.Lasts < beat || b.Lasts > 12*time.Hour || b.Lasts%beat != 0):
		return cluster.BadField("lasts", b.Lasts, "a time from 5m to 12h, in steps of 5m")
	case b.Slack < 0 || b.Slack > 24*time.Hour-b.Lasts:
		return cluster.BadField("slack", b.Slack, "a time from 0s on that ends with the job within a day")
	case b.Waits && b.VMs > 0 && c.Prices == nil:
		return cluster.Fault("flexible", "%d VMs require prices: without them waiting gains nothing", b.VMs)
	case b.VMs > 0 && c.Length < b.Lasts+b.Slack:
		return cluster.BadField("hours", c.Length, "as long at least as a job may take with its slack")
	}
	return nil
}

// beat is how often demands change.
const beat = 5 * time.Minute

// job is one run of a VM that is one.
type job struct {
	from, until time.Time
	waits       time.Duration // of its start
}

// batch has the jobs of each such VM, in order of time. All of them end within the run, also
// those that wait as long as they may: so every run has the same work.
func (r *run) batch() [][]job {
	last := r.start.Add(r.Length - r.Batch.Lasts - r.Batch.Slack)
	list := make([][]job, r.Batch.VMs)
	for vm := range list {
		free := r.start
		for dawn := r.start; dawn.Before(r.start.Add(r.Length)); dawn = dawn.Add(24 * time.Hour) {
			at := dawn.Add(time.Duration(r.chance.Int64N(int64(24*time.Hour/beat))) * beat)
			if at.After(last) {
				continue
			}
			begin := at
			if r.Batch.Waits {
				begin = r.Prices.CheapestStart(price.Load{Power: energy.Watts(1), Duration: r.Batch.Lasts}, at, at.Add(r.Batch.Slack), leastSaved).At
				begin = r.start.Add(begin.Sub(r.start).Truncate(beat))
			}
			if begin.Before(free) {
				begin = free // the day before is still at work
			}
			free = begin.Add(r.Batch.Lasts)
			list[vm] = append(list[vm], job{from: begin, until: free, waits: begin.Sub(at)})
			r.Jobs, r.Waited = r.Jobs+1, r.Waited+begin.Sub(at)
		}
	}
	return list
}

// leastSaved is for what part of the cost a job waits, as it is the default of the daemon.
const leastSaved = 0.05

// working reports whether a VM has something to do; one that is no job always has.
func (r *run) working(vm int) bool {
	if vm >= len(r.jobs) {
		return true
	}
	for _, j := range r.jobs[vm] {
		if !r.now.Before(j.from) && r.now.Before(j.until) {
			return true
		}
	}
	return false
}

// cost is what an energy costs that is drawn in the minute from now on; nothing where the
// price is not known.
func (r *run) cost(e energy.Joules) float64 {
	if r.Prices == nil {
		return 0
	}
	cost, _ := r.Prices.Cost(e, r.now, r.now.Add(time.Minute))
	return cost
}
