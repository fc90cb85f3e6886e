package settings

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// Arrange returns the settings of the queue order and of the quotas. The error names the invalid key.
func (s *Settings) Arrange() (a ordering.Settings, err error) {
	o := &s.Order
	zone, err := o.zone()
	if err != nil {
		return a, err
	}
	if a.Queues, err = o.queues(s.Policy.named); err != nil {
		return a, err
	}
	if a.Rank, err = o.Priority.settings(); err != nil {
		return a, cluster.WithPath("priority", err)
	}
	a.Leap = o.FairShare.Leap
	if !(a.Leap >= 0 && a.Leap <= 1) {
		return a, cluster.BadField("fair_share.leap", a.Leap, "from 0 to 1")
	}
	a.Shares = o.FairShare.settings()
	if err := a.Shares.Check(); err != nil {
		return a, cluster.WithPath("fair_share", err)
	}
	for _, p := range o.Projects {
		a.Projects = append(a.Projects, ordering.Project(p))
	}
	if err := a.Projects.Check(); err != nil {
		return a, err
	}
	a.Quotas, err = o.quotas(zone, a.Queues.Names())
	return a, err
}

// zone returns the time zone of all windows in time.
func (o *Order) zone() (*time.Location, error) {
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return nil, cluster.BadField("time_zone", o.TimeZone, "a time zone, such as UTC or Europe/Paris")
	}
	return zone, nil
}

func (o *Order) queues(policy func(name string) (queue.Policy, error)) (*ordering.Queues, error) {
	list := make([]ordering.Queue, len(o.Queues))
	for i, q := range o.Queues {
		p, err := policy(q.Policy)
		if err != nil {
			return nil, cluster.WithPath(indexed("queues", i), err)
		}
		l := q.Limits
		list[i] = ordering.Queue{
			Name: q.Name, Priority: q.Priority, Policy: p, Pool: q.Pool,
			VMs: l.VMs, CPU: l.CPU.MilliCPU, Memory: l.Memory.MiB, Walltime: l.Walltime.Duration,
		}
	}
	return ordering.NewQueues(list, o.DefaultQueue)
}

func (p *Priority) settings() (multifactor.Settings, error) {
	if err := (choice{"size_first", p.SizeFirst, "large small"}).check(); err != nil {
		return multifactor.Settings{}, err
	}
	r := multifactor.Settings{
		Weights: multifactor.Weights{
			User: p.User, Queue: p.Queue, Age: p.Age, FairShare: p.FairShare, Size: p.Size, Deadline: p.Deadline,
		},
		Lead: p.Lead, OldAge: p.OldAge.Duration, Horizon: p.Horizon.Duration, LargeFirst: p.SizeFirst == "large",
	}
	return r, r.Check()
}

func (f *FairShare) settings() fairshare.Settings {
	return fairshare.Settings{
		HalfLife: f.HalfLife.Duration, CPU: f.CPU, Memory: f.Memory, Damping: f.Damping, Share: f.Share, Shares: f.Shares,
	}
}

func (o *Order) quotas(zone *time.Location, names []string) (*quota.Book, error) {
	list := make([]quota.Quota, len(o.Quotas))
	for i, q := range o.Quotas {
		list[i] = quota.Quota{Name: q.Name, User: q.User, Project: q.Project, Queue: q.Queue, Within: q.Within.Duration}
		entries := make([]calendar.Entry[quota.Limits], len(q.Windows))
		for k, w := range q.Windows {
			entries[k] = calendar.Entry[quota.Limits]{Name: w.Name, When: w.When, Value: w.Limits.limits()}
		}
		var err error
		if list[i].Limits, err = calendar.New(zone, q.Limits.limits(), entries...); err != nil {
			return nil, cluster.WithPath(indexed("quotas", i), err)
		}
	}
	return quota.New(list, names)
}

func (l *QuotaLimits) limits() quota.Limits {
	limits := quota.Limits{}
	if l.VMs != nil {
		limits[quota.VMs] = int64(*l.VMs)
	}
	if l.CPU != nil {
		limits[quota.CPU] = int64(l.CPU.MilliCPU)
	}
	if l.Memory != nil {
		limits[quota.Memory] = int64(l.Memory.MiB)
	}
	if l.CPUHours != nil {
		// Values out of range are clamped, so that the conversion cannot overflow.
		limits[quota.CPUTime] = int64(min(max(*l.CPUHours, -1), 1e12) * float64(time.Hour/time.Millisecond))
	}
	return limits
}

func indexed(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
