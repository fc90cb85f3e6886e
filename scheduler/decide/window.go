package decide

import "vjob/cluster"

// putOff keeps vjobs from their first start until their owners want them to start. Of those
// that are to have started by an instant, that instant is one at which the picture changes.
func (p *View) putOff() {
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if r.Job.State != cluster.Waiting || r.Began {
			continue
		}
		if p.now.Before(r.Job.NotAfter) {
			p.again(r.Job.NotAfter)
		}
		if !p.now.Before(r.Job.NotBefore) {
			continue
		}
		p.again(r.Job.NotBefore)
		if p.barred[r.Job.ID] == "" {
			p.Later[r.Job.ID] = r.Job.NotBefore
			p.barred[r.Job.ID] = "until " + r.Job.NotBefore.UTC().Format("2006-01-02 15:04:05 MST") + ", as it was asked for"
		}
	}
}
