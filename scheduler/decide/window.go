package decide

import "vjob/cluster"

// applyStartWindows makes vjobs ineligible until their start window begins. The end of a start
// window is an instant at which the view changes.
func (p *View) applyStartWindows() {
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if r.Job.State != cluster.Waiting || r.Began {
			continue
		}
		if p.now.Before(r.Job.NotAfter) {
			p.recheck(r.Job.NotAfter)
		}
		if !p.now.Before(r.Job.NotBefore) {
			continue
		}
		p.recheck(r.Job.NotBefore)
		if p.ineligible[r.Job.ID] == "" {
			p.DelayedUntil[r.Job.ID] = r.Job.NotBefore
			p.ineligible[r.Job.ID] = "until " + r.Job.NotBefore.UTC().Format("2006-01-02 15:04:05 MST") + ", as it was asked for"
		}
	}
}
