package ordering

import (
	"strings"

	"vjob/cluster"
	"vjob/queue"
)

// Policy is all queues as one policy; of tells the queue of a vjob. Queues that have the
// same policy are looked at together, in the order of the vjobs. Where policies differ,
// those of the queue with the largest priority come first, and what they let run is taken
// when the next are looked at. What runs under a policy that suspends nobody keeps its
// place whoever comes before.
func (l *Queues) Policy(of func(*cluster.VJob) string) queue.Policy {
	return composite{l, of}
}

type composite struct {
	list *Queues
	of   func(*cluster.VJob) string
}

// Name is that of the policies, in the order in which they are asked.
func (p composite) Name() string {
	var names []string
	for _, own := range p.policies() {
		names = append(names, own.Name())
	}
	return strings.Join(names, ", ")
}

// Traits are those that all policies have; it preempts if any of them does.
func (p composite) Traits() queue.Traits {
	policies := p.policies()
	t := policies[0].Traits()
	for _, own := range policies[1:] {
		o := own.Traits()
		t.Strict, t.Turns, t.Preempts = t.Strict && o.Strict, t.Turns && o.Turns, t.Preempts || o.Preempts
	}
	return t
}

// policies are the different ones, in the order in which they are asked.
func (p composite) policies() (list []queue.Policy) {
	seen := map[queue.Policy]bool{}
	for _, q := range p.list.queues {
		if !seen[q.Policy] {
			seen[q.Policy] = true
			list = append(list, q.Policy)
		}
	}
	return list
}

// For is the policy of the queue of a vjob.
func (p composite) For(j *cluster.VJob) queue.Policy { return p.list.Of(p.of(j)).Policy }

// Select asks each policy about its vjobs. What others let run is shown to it as if it
// were under way: that takes its room first, and is reckoned with until it ends.
func (p composite) Select(m *queue.Input) []queue.Verdict {
	policies := p.policies()
	if len(policies) == 1 {
		return policies[0].Select(m)
	}
	verdicts, asked := make([]queue.Verdict, len(m.Jobs)), map[queue.Policy]bool{}
	whose := make([]queue.Policy, len(m.Jobs))
	for i := range m.Jobs {
		whose[i] = p.For(m.Jobs[i].VJob)
	}
	for _, own := range policies {
		var jobs []queue.Job
		var places []int
		for i, j := range m.Jobs {
			if asked[whose[i]] && verdicts[i].Target == queue.Run || !asked[whose[i]] && whose[i] != own && stays(&j, whose[i]) {
				j.Busy, j.Bound = true, queue.Run
				jobs = append(jobs, j)
			}
		}
		others := len(jobs)
		for i, j := range m.Jobs {
			if whose[i] == own {
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

// stays reports whether a vjob keeps its place under its own policy, whoever else comes.
func stays(j *queue.Job, own queue.Policy) bool {
	if j.Busy {
		return j.Bound == queue.Run
	}
	return queue.Keeps(own, j.VJob) && j.State == cluster.Running && !j.Held
}
