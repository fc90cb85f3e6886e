package execute

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// writeEvery is how often the account of a running vjob is written; a crash
// forgets at most that much of it.
const writeEvery = time.Minute

// accountAll adds the time since the last call to all accounts.
func (e *Executor) accountAll() {
	written := len(e.out.Step.Usage)
	for _, p := range e.gangs {
		e.account(p, false)
	}
	slices.SortFunc(e.out.Step.Usage[written:], func(a, b journal.Usage) int { return cmp.Compare(a.VJob, b.VJob) })
}

// account adds the time since the last call to the vjob's account: running time
// and memory by the clock, CPU by what its guests were seen to use.
func (e *Executor) account(p *gangState, write bool) {
	dt := e.now.Sub(p.marked)
	p.marked = e.now
	if p.accounted == gang.Active {
		counts := p.counts(dt)
		p.ran += counts
		p.crowded += dt - counts
		p.used.Running += dt
		p.used.Crowded += dt - counts
		p.used.Wanted += p.wanted(dt)
	}
	if p.accounted != gang.Absent && p.accounted != gang.Saved {
		for rank, m := range p.rec.Members {
			if !m.Ended {
				p.memory += float64(p.job.VMs[rank].Reserved.Memory) * dt.Seconds()
			}
		}
	}
	p.accounted = p.rec.Phase
	if p.used.Running >= writeEvery {
		write = true
	}
	if write {
		whole := int64(p.memory)
		p.used.MemorySec, p.memory = whole, p.memory-float64(whole)
		whole = int64(p.joules)
		p.used.Joules, p.joules = whole, p.joules-float64(whole)
	}
	if write && p.used != (journal.Usage{}) {
		p.used.VJob = p.job.ID
		e.out.Step.Usage = append(e.out.Step.Usage, p.used)
		p.used = journal.Usage{}
	}
}

// meter takes in what a look says of a member's CPU: what it needs now, and what
// it has used since the last look. It reports whether what it counts for has changed.
func (e *Executor) meter(p *gangState, rank int, need cluster.MilliCPU, used time.Duration) (changed bool) {
	if rank >= len(p.job.VMs) {
		return false
	}
	if p.meters == nil {
		p.meters = make([]meter, len(p.job.VMs))
	}
	m := &p.meters[rank]
	if used < m.used {
		m.used = 0 // another copy: its clock began anew
	}
	p.used.CPU += used - m.used
	m.wants = need
	if e.Expect {
		m.past.Add(e.now, need)
		need, _ = m.past.Expected()
		need = min(need, p.job.VMs[rank].Reserved.CPU)
	}
	changed = !m.seen || m.need != need
	m.seen, m.need, m.used = true, need, used
	return changed
}
