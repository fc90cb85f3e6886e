package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/queue/availability"
	"vjob/queue/forecast"
	"vjob/queue/quota"
)

// ForecastInput is what a forecast starts from.
type ForecastInput struct {
	forecast.Scene
	VJobs  []*cluster.VJob
	Inside cluster.VJobID // the container in which they run; 0: on the cluster
}

// ForecastInputs returns the inputs of forecasts, given the last verdicts: first the cluster, then
// each container. The vjobs are copies, in the order of the view.
func (p *View) ForecastInputs(decided map[cluster.VJobID]queue.Verdict) []*ForecastInput {
	scenes := []*ForecastInput{p.forecastInput(decided)}
	for i := range p.inside {
		q := &p.inside[i]
		s := q.forecastInput(decided)
		s.Inside, s.Until = q.container.ID, p.now.Add(q.left)
		scenes = append(scenes, s)
	}
	return scenes
}

func (p *View) forecastInput(decided map[cluster.VJobID]queue.Verdict) *ForecastInput {
	s := &ForecastInput{Scene: forecast.Scene{Now: p.now, Gap: p.settings.Policy.Traits().Gap}}
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			s.Nodes = append(s.Nodes, n.Capacity)
			s.Total = s.Total.Plus(n.Capacity)
		}
	}
	counts, quotas, power := needs(p.intended), p.quotas(), p.power()
	ruled := p.withRules()
	s.Places = p.placesFor(counts)
	for i, at := range p.eachVJob {
		job := p.job(i, at, counts)
		v, known := decided[job.ID]
		f := forecastJob(&job, p.quarantined[job.ID] != "" || p.closed != "", v, known)
		if later, waits := p.DelayedUntil[job.ID]; waits && !f.Runs && !job.Held {
			f.NotBefore, f.Stuck = later, false
		}
		f.VMs, f.BestEffort = p.vmNeeds(i, at, counts), job.BestEffort
		f.Strict = queue.For(p.settings.Policy, job.VJob).Traits().Strict
		f.Yields = f.Runs && p.yields(&job)
		f.Ruled = ruled[0] || ruled[job.ID] || at >= 0 && p.applicants[at].Rules != ""
		f.Array, f.After = job.Array, p.pendingDependencies(&job, f.Stuck)
		quotas.note(&f)
		if power != nil {
			f.Parts = append(f.Parts, availability.LimitPart{Of: power, Amount: milliwatts(p.minShareWatts(job.VJob))})
		}
		s.Jobs, s.VJobs = append(s.Jobs, f), append(s.VJobs, job.VJob)
	}
	return s
}

// withRules returns the vjobs with rules, without applicants; key 0 stands for the cluster.
func (p *View) withRules() map[cluster.VJobID]bool {
	some := map[cluster.VJobID]bool{}
	for _, r := range p.rules {
		some[r.VJob] = some[r.VJob] || r.Text != ""
	}
	return some
}

// placesFor returns packings in which rules count and running VMs may move as the rules allow.
func (p *View) placesFor(counts map[cluster.VMID]cluster.Resources) forecast.Places {
	line := ctxswitch.NewApplicantQueue(p.applicants)
	return func() func(id cluster.VJobID) bool {
		room := ctxswitch.NewPacking(ctxswitch.PackingInput{
			Current: p.intended, Applicants: line, Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable, Needs: counts,
		})
		return func(id cluster.VJobID) bool {
			ok, _ := room.Take(id)
			return ok
		}
	}
}

// pendingDependencies returns the unmet dependencies of a vjob, or nil if anything else blocks it
// or a dependency may never be met.
func (p *View) pendingDependencies(job *queue.Job, stuck bool) (list []forecast.Dependency) {
	if !stuck || job.Held || p.waits[job.ID] == "" || p.quarantined[job.ID] != "" || p.closed != "" {
		return nil
	}
	for _, d := range job.After {
		if d.When == cluster.AfterNotOK {
			return nil
		}
		list = append(list, forecast.Dependency{On: d.On, Array: d.Array, Start: d.When == cluster.AfterStart})
	}
	return list
}

// yields reports whether a running vjob is preemptible by the vjobs before it at any time. Slots
// have turns.
func (p *View) yields(job *queue.Job) bool {
	turns := queue.For(p.settings.Policy, job.VJob).Traits().Turns
	return !p.settings.Keeps(job.VJob) && !job.Container && job.Reservation.IsZero() && (job.BestEffort || !turns)
}

// vmNeeds returns what the VMs of a vjob count for, given its index among the applicants.
func (p *View) vmNeeds(i, at int, counts map[cluster.VMID]cluster.Resources) (list []cluster.Resources) {
	if at >= 0 {
		return p.applicants[at].Needs
	}
	for k := range p.VJobs[i].Job.VMs {
		if need, counts := counts[p.VJobs[i].Job.VMs[k].ID]; counts {
			list = append(list, need)
		}
	}
	return list
}

// quotas limit the waiting vjobs of a forecast.
type quotas struct {
	forecast *quota.Forecast // nil without quotas
	jobs     map[cluster.VJobID]quota.Job
}

// forecastHorizon is how far ahead changes of quotas and budgets count.
const forecastHorizon = 7 * 24 * time.Hour

func (p *View) quotas() (q quotas) {
	rules := p.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return q
	}
	q.forecast, q.jobs = rules.Quotas.Forecast(p.now, p.now.Add(forecastHorizon), p.past), map[cluster.VJobID]quota.Job{}
	for i := range p.VJobs {
		q.jobs[p.VJobs[i].Job.ID] = quotaJob(rules, &p.VJobs[i])
	}
	return q
}

// note adds what a vjob takes of quotas to its forecast.
func (q quotas) note(f *forecast.Job) {
	if q.forecast == nil {
		return
	}
	job := q.jobs[f.ID]
	f.Parts = q.forecast.Parts(&job)
}

// forecastJob returns what the forecast needs of a vjob.
func forecastJob(j *queue.Job, aside bool, v queue.Verdict, decided bool) forecast.Job {
	f := forecast.Job{ID: j.ID, Need: j.Need, Reason: j.Cause.String()}
	if decided && v.Reason != "" && (j.State.Ready() || v.Target == queue.Run) {
		f.Reason = v.Reason
	}
	f.Left, f.Ends = j.Left()
	switch {
	case j.Busy:
		f.Runs, f.Stuck, f.Leaves = j.Bound == queue.Run, j.Bound != queue.Run, j.Bound != queue.Run
	case j.State == cluster.Running:
		f.Runs = true
	default:
		f.Runs = decided && v.Target == queue.Run
		f.Stuck = !f.Runs && (j.Held || j.Ineligible != "" || aside)
	}
	if j.State == cluster.Running {
		f.Since = j.Since
	}
	if j.State.Ready() && !f.Runs {
		f.Reserved = j.Reservation
	}
	return f
}
