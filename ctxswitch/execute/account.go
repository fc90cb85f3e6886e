package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
	"vjob/internal/predictor"
)

// vjobAccount is what a vjob uses.
type vjobAccount struct {
	clock
	used    journal.Usage // not yet written
	memory  float64       // MiB·s on nodes, not yet written
	hours   usageHours    // not yet written
	joules  float64       // of its shares of the nodes, not yet written
	watts   energy.Watts  // that it draws now
	meters  []meter       // by rank; nil until a member was seen
	absence *absence      // before this start of the scheduler; nil: none, or it is accounted
}

// meter is what was last seen of the CPU, the memory and the network of a member.
type meter struct {
	seen    bool
	need    cluster.MilliCPU    // now, or expected
	wants   cluster.MilliCPU    // now
	used    time.Duration       // by the present copy
	rate    cluster.MilliCPU    // that it used over the last second or longer
	from    time.Time           // since when the next rate is measured
	base    time.Duration       // used at that time
	past    predictor.Predictor // what is expected by, if anything is
	memory  cluster.MiB         // its working set; 0 if unknown
	network traffic
}

// writeEvery is how often the account of a running vjob is written; a crash of the scheduler forgets
// at most that much of it.
const writeEvery = time.Minute

// add adds the time since the last call: running time and memory by the clock, CPU by what the
// guests were seen to use.
func (a *vjobAccount) add(now time.Time, job *cluster.VJob, rec *gang.Record) {
	dt := now.Sub(a.marked)
	a.hours.add(a.marked, now, a.phase, job, rec)
	a.marked = now
	if a.phase == gang.Active {
		counts := a.counts(job, dt)
		a.ran += counts
		a.crowded += dt - counts
		a.used.Running += dt
		a.used.Crowded += dt - counts
		a.used.Wanted += a.wanted(rec, dt)
	}
	if a.phase != gang.Absent && a.phase != gang.Saved {
		for rank, m := range rec.Members {
			if !m.Ended {
				a.memory += float64(job.VMs[rank].Reserved.Memory) * dt.Seconds()
			}
		}
	}
	if a.phase != rec.Phase {
		a.absence = nil
	}
	a.phase = rec.Phase
}

// due reports whether the account is to be written.
func (a *vjobAccount) due() bool { return a.used.Running >= writeEvery || a.hours.due(a.marked) }

// take returns what is not yet written, in whole units, and counts it as written.
func (a *vjobAccount) take(id cluster.VJobID) (journal.Usage, []journal.UsageHour) {
	whole := int64(a.memory)
	a.used.MemorySec, a.memory = whole, a.memory-float64(whole)
	whole = int64(a.joules)
	a.used.Joules, a.joules = whole, a.joules-float64(whole)
	hours := a.hours.take(id)
	for i := range hours {
		a.used.Reserved += hours[i].Reserved
	}
	used := a.used
	a.used = journal.Usage{}
	return used, hours
}

// observe takes in what a look says of the CPU of a member: what it needs now, and what
// it has used since the last look. It reports whether what it counts for has changed.
func (a *vjobAccount) observe(now time.Time, job *cluster.VJob, node cluster.NodeID, c *hypervisor.Copy, expect bool) (changed bool) {
	if a.meters == nil {
		a.meters = make([]meter, len(job.VMs))
	}
	m, need := &a.meters[c.VM.Rank], c.CPU
	if c.CPUTime < m.used {
		m.used = 0 // another copy: its clock began anew
	}
	m.measure(now, c.CPUTime)
	a.used.CPU += c.CPUTime - m.used
	a.hours.observe(now, node, c.CPUTime-m.used)
	m.wants, m.memory = need, c.Memory
	m.network.measure(now, c.Traffic)
	if expect {
		m.past.Add(now, need)
		need, _ = m.past.Expected()
		need = min(need, job.VMs[c.VM.Rank].Reserved.CPU)
	}
	changed = !m.seen || m.need != need
	m.seen, m.need, m.used = true, need, c.CPUTime
	return changed
}

// observed returns the CPU that a member was last seen to need.
func (a *vjobAccount) observed(rank int) (cpu cluster.MilliCPU, ok bool) {
	if a.meters == nil {
		return 0, false
	}
	m := &a.meters[rank]
	return m.need, m.seen
}

// workingSet returns the memory that a member was last seen to use; 0 if unknown.
func (a *vjobAccount) workingSet(rank int) cluster.MiB {
	if a.meters == nil {
		return 0
	}
	return a.meters[rank].memory
}

// measured is the least time over which a rate is measured: looks in quick succession say little.
const measured = time.Second

// measure takes in the CPU time that the present copy has used.
func (m *meter) measure(now time.Time, used time.Duration) {
	span := now.Sub(m.from)
	switch {
	case m.from.IsZero() || used < m.base:
		m.from, m.base, m.rate = now, used, 0
	case span >= measured:
		m.rate = cluster.MilliCPU(float64(used-m.base) / float64(span) * float64(cluster.CPU))
		m.from, m.base = now, used
	}
}

// rate returns the CPU that a member used lately, at most what it needs.
func (a *vjobAccount) rate(rank int) cluster.MilliCPU {
	if a.meters == nil {
		return 0
	}
	return min(a.meters[rank].rate, a.meters[rank].wants)
}

// wanted is the CPU time that the members would have used since they were last
// accounted, had they got all they need.
func (a *vjobAccount) wanted(rec *gang.Record, dt time.Duration) (sum time.Duration) {
	for rank := range a.meters {
		if !rec.Members[rank].Ended {
			sum += time.Duration(float64(dt) * float64(a.meters[rank].wants) / float64(cluster.CPU))
		}
	}
	return sum
}

// written is as much of the running time as the journal has.
func (a *vjobAccount) written() time.Duration { return a.ran - a.used.Running + a.used.Crowded }
