package sim

import (
	"reflect"

	"vjob/cluster"
)

// known checks I40: of a vjob with which nothing was ever done, the loop has all that the journal has, as long as both have
// the same version. Lists show what the loop has.
func (r *run) known() {
	s := r.shell.Snapshot()
	if s == nil {
		return
	}
	for _, row := range r.store.VJobs() {
		job := s.VJobs.Untouched(row.ID)
		if job == nil || job.Version != row.Version {
			continue
		}
		size, reserved, usage := len(job.VMs), job.Reserved(), row.Account
		usage.VJob = 0
		kept := *job
		kept.Origin, kept.VMs, kept.Rules, kept.Shape = cluster.Origin{}, nil, "", 0 // lists leave them out
		if !reflect.DeepEqual(&kept, row.VJob) || size != row.Size || reserved != row.Reserved || !row.Started.IsZero() || !row.Ended.IsZero() || !reflect.ValueOf(usage).IsZero() {
			r.check.violate(40, "vjob %s is %+v with terms %+v, %d VMs and %s; the journal has %+v with terms %+v, %d VMs and %s, begun at %s", row.ID, kept, *kept.Terms, size, reserved, *row.VJob, *row.Terms, row.Size, row.Reserved, row.Started)
		}
	}
}
