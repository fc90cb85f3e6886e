package decide

import (
	"vjob/cluster"
	"vjob/queue"
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
func (v *View) ForecastInputs(decided map[cluster.VJobID]queue.Verdict) []*ForecastInput {
	scenes := []*ForecastInput{forecaster{v, decided}.input()}
	for i := range v.inside {
		q := &v.inside[i]
		s := forecaster{q.View, decided}.input()
		s.Inside, s.Until = q.container.ID, v.facts.Now.Add(q.left)
		scenes = append(scenes, s)
	}
	return scenes
}

// forecaster states the input of a forecast.
type forecaster struct {
	*View
	decided map[cluster.VJobID]queue.Verdict // the last verdicts
}

func (v forecaster) input() *ForecastInput {
	s := &ForecastInput{Scene: forecast.Scene{Now: v.facts.Now, Gap: v.settings.Policy.Traits().Gap}}
	nodes := v.layout.intended.Nodes()
	for _, n := range nodes {
		if n.Hosts() {
			s.Nodes = append(s.Nodes, n.Capacity)
			s.Total = s.Total.Plus(n.Capacity)
		}
	}
	packings, quotas, power := v.layout.packings(), v.quotas(), v.supply.Forecast(nodes, v.facts.Now, v.facts.Now.Add(v.settings.lookahead()))
	ruled, pools := v.withRules(), v.poolNeeds()
	s.Places = placesFor(packings)
	for i, at := range v.eachVJob {
		job := v.job(i, at, packings.Current)
		verdict, known := v.decided[job.ID]
		f := forecastJob(&job, v.quarantined[job.ID] != "" || v.closed != "", verdict, known)
		if later, waits := v.DelayedUntil(job.ID); waits && !f.Runs && !job.Held {
			f.NotBefore, f.Stuck = later, false
		}
		f.VMs, f.BestEffort = v.vmNeeds(i, at, packings.Current), job.BestEffort
		f.Strict = queue.For(v.settings.Policy, job.VJob).Traits().Strict
		f.Yields = f.Runs && v.yields(&job)
		f.Ruled = ruled[0] || ruled[job.ID] || at >= 0 && v.layout.applicants[at].Rules != ""
		f.Array, f.After = job.Array, v.pendingDependencies(&job, f.Stuck)
		quotas.note(&f)
		if power != nil {
			f.Parts = append(f.Parts, v.supply.Part(nodes, power, job.VJob))
		}
		if pools != nil {
			f.Pool = pools(job.VJob)
		}
		s.Jobs, s.VJobs = append(s.Jobs, f), append(s.VJobs, job.VJob)
	}
	return s
}

// withRules returns the vjobs with rules, without applicants; key 0 stands for the cluster.
func (v forecaster) withRules() map[cluster.VJobID]bool {
	some := map[cluster.VJobID]bool{}
	for _, r := range v.layout.rules {
		some[r.VJob] = some[r.VJob] || r.Text != ""
	}
	return some
}

// placesFor returns packings in which rules count and running VMs may move as the rules allow.
func placesFor(packings packings) forecast.Places {
	return func() func(id cluster.VJobID) bool {
		room := packings.empty(nil)
		return func(id cluster.VJobID) bool {
			ok, _ := room.Take(id)
			return ok
		}
	}
}

// pendingDependencies returns the unmet dependencies of a vjob, or nil if anything else blocks it
// or a dependency may never be met.
func (v forecaster) pendingDependencies(job *queue.Job, stuck bool) (list []forecast.Dependency) {
	if !stuck || job.Held || v.facts.Waits[job.ID] == "" || v.quarantined[job.ID] != "" || v.closed != "" {
		return nil
	}
	for _, d := range job.Dependencies() {
		if d.When == cluster.AfterNotOK {
			return nil
		}
		list = append(list, forecast.Dependency{On: d.On, Array: d.Array, Start: d.When == cluster.AfterStart})
	}
	return list
}

// yields reports whether a running vjob is preemptible by the vjobs before it at any time. Slots
// have turns.
func (v forecaster) yields(job *queue.Job) bool {
	turns := queue.For(v.settings.Policy, job.VJob).Traits().Turns
	return !v.settings.Keeps(job.VJob) && !job.Container && job.Reservation.IsZero() && (job.BestEffort || !turns)
}

// vmNeeds returns what the VMs of a vjob count for, given its index among the applicants.
func (v forecaster) vmNeeds(i, at int, counts *cluster.Configuration) (list []cluster.Resources) {
	if at >= 0 {
		return v.layout.applicants[at].Needs
	}
	for k := range v.VJobs[i].Job.VMs {
		vm := v.VJobs[i].Job.VMs[k].ID
		if _, known := counts.State(vm); known {
			list = append(list, counts.Need(vm))
		}
	}
	return list
}

// quotas limit the waiting vjobs of a forecast.
type quotas struct {
	forecast *quota.Forecast // nil without quotas
	jobs     map[cluster.VJobID]quota.Job
}

func (v forecaster) quotas() (q quotas) {
	rules := v.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return q
	}
	q.forecast, q.jobs = rules.Quotas.Forecast(v.facts.Now, v.facts.Now.Add(v.settings.lookahead()), v.facts.Past), map[cluster.VJobID]quota.Job{}
	for i := range v.VJobs {
		q.jobs[v.VJobs[i].Job.ID] = quotaJob(rules, &v.VJobs[i])
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
	f := forecast.Job{ID: j.ID, Need: j.Need}
	if decided && v.Reason != "" && (j.State.Ready() || v.Target == queue.Run) {
		f.Reason = v.Reason
	} else {
		f.Reason, f.Discreet = j.Cause.String(), j.Cause.For(j.Owner).String()
		for _, r := range j.Cause.Fields().VJobs {
			f.Named = append(f.Named, r.ID)
		}
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
