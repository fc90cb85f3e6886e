package ordering

import (
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/queue"
)

// Policy returns all queues as one policy; of returns the queue of a vjob. Queues with equal policies are
// decided together, in the order of the vjobs. Different policies decide one after another, by the priority
// of their queues, and what earlier ones run is taken for later ones. Running vjobs under a policy without
// preemption keep their capacity in any case.
func (l *Queues) Policy(of func(*cluster.VJob) string) queue.Policy {
	p := &composite{list: l, of: of}
	for _, q := range l.queues {
		if !slices.Contains(p.policies, q.Policy) {
			p.policies = append(p.policies, q.Policy)
		}
	}
	p.traits = p.policies[0].Traits()
	for _, own := range p.policies[1:] {
		o, t := own.Traits(), &p.traits
		t.Strict, t.Turns, t.Preempts = t.Strict && o.Strict, t.Turns && o.Turns, t.Preempts || o.Preempts
	}
	return p
}

type composite struct {
	list     *Queues
	of       func(*cluster.VJob) string
	policies []queue.Policy // the different ones, in the order in which they decide
	traits   queue.Traits
}

// Name joins the names of the policies, in the order in which they decide.
func (p *composite) Name() string {
	var names []string
	for _, own := range p.policies {
		names = append(names, own.Name())
	}
	return strings.Join(names, ", ")
}

// Traits are those that all policies have; it preempts if any of them does.
func (p *composite) Traits() queue.Traits { return p.traits }

// For returns the policy of the queue of a vjob.
func (p *composite) For(j *cluster.VJob) queue.Policy { return p.list.of(p.of(j)).Policy }

// Select asks each policy about its vjobs. What others run is passed as vjobs under way to run, which take
// their capacity first and count until their ends.
func (p *composite) Select(m *queue.Input) []queue.Verdict {
	policies := p.policies
	if len(policies) == 1 {
		return policies[0].Select(m)
	}
	verdicts, asked := make([]queue.Verdict, len(m.Jobs)), map[queue.Policy]bool{}
	owners := make([]queue.Policy, len(m.Jobs))
	for i := range m.Jobs {
		owners[i] = p.For(m.Jobs[i].VJob)
	}
	for _, own := range policies {
		var jobs []queue.Job
		var places []int
		for i, j := range m.Jobs {
			if asked[owners[i]] && verdicts[i].Target == queue.Run || !asked[owners[i]] && owners[i] != own && stays(&j, owners[i]) {
				j.Busy, j.Bound = true, queue.Run
				jobs = append(jobs, j)
			}
		}
		others := len(jobs)
		for i, j := range m.Jobs {
			if owners[i] == own {
				jobs, places = append(jobs, j), append(places, i)
			}
		}
		mine := *m
		mine.Jobs = jobs
		for k, v := range own.Select(&mine)[others:] {
			verdicts[places[k]] = v
		}
		asked[own] = true
	}
	return verdicts
}

// stays reports whether a vjob keeps its capacity under its own policy, whichever others come.
func stays(j *queue.Job, own queue.Policy) bool {
	if j.Busy {
		return j.Bound == queue.Run
	}
	return queue.Keeps(own, j.VJob) && j.State == cluster.Running && !j.Held
}
