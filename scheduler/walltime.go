package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// endOverdue ends the vjobs that have reached their walltime, or suspends and holds them until they
// get more time or are deleted.
func (v *VJobs) endOverdue(now time.Time) {
	cause := &cluster.Cause{Kind: cluster.CauseWalltime}
	for _, id := range v.exec.Walltimes.Overdue() {
		// The vjob is there: it was just listed.
		if v.settings.HoldOverdue {
			_ = v.exec.Hold(now, id, true, cause)
		} else {
			_ = v.exec.Clear(now, id, gang.ThenExpire, cause)
		}
	}
}

// WalltimeChange requests another walltime of a vjob.
type WalltimeChange struct {
	VJob     cluster.VJobID
	Walltime time.Duration // 0 is unlimited
	By       string
	Admin    bool // By is an administrator
}

// SetWalltime changes a walltime: to a shorter one at any time, to a longer one before the vjob has
// run, or by an administrator. It fails with ErrNotFound, ErrConflict or the limit of its queue, and
// then changes nothing.
func (v *VJobs) SetWalltime(now time.Time, s WalltimeChange) error {
	r, ok := v.exec.Job(s.VJob)
	if !ok {
		return fmt.Errorf("vjob %s: %w", s.VJob, cluster.ErrNotFound)
	}
	longer := r.Job.Walltime > 0 && (s.Walltime == 0 || s.Walltime > r.Job.Walltime)
	refuse := func(why string) error {
		return fmt.Errorf("vjob %s %s: %s: %w", s.VJob, r.Job.State.Clause(), why, cluster.ErrConflict)
	}
	switch {
	case s.Walltime < 0:
		return cluster.BadField("walltime_seconds", s.Walltime, "0 or more")
	case len(r.Job.Shapes) > 0:
		return refuse("it has alternatives, each with a walltime of its own")
	case longer && !r.Job.Reservation.IsZero():
		return refuse("its reservation ends with its present walltime")
	case s.Walltime == 0 && r.Job.Container:
		return refuse("a container ends with its walltime")
	case s.Walltime == 0 && !r.Job.Reservation.IsZero():
		return refuse("a reservation ends with its walltime")
	case longer && (r.Began || r.Job.State != cluster.Waiting) && !s.Admin:
		return refuse("a longer walltime of a vjob that has begun requires an administrator")
	}
	if box, live := v.exec.Job(r.Job.Inner); live && s.Walltime-r.Ran > box.Job.Walltime-box.Ran {
		return refuse(fmt.Sprintf("its container %s ends in %s", box.Job.ID, (box.Job.Walltime - box.Ran).Round(time.Second)))
	}
	changed := r.Job.Clone()
	changed.Walltime = s.Walltime
	if err := v.settings.OrderingRules().Admit(changed); err != nil && longer {
		return err
	}
	return v.exec.Walltimes.Set(now, s.VJob, s.Walltime, fmt.Sprintf("vjob %s: its walltime is %s now, by %s", s.VJob, span(s.Walltime), s.By))
}

func span(d time.Duration) string {
	if d == 0 {
		return "unlimited"
	}
	return d.String()
}
