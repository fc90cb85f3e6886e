package decide

import (
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
)

// InvalidRules are the rules that can no longer be parsed or kept, and why.
type InvalidRules struct {
	Cluster []string
	VJobs   map[cluster.VJobID]string
}

// attachRules adds the rules of the cluster and of the vjobs to the layout. Invalid rules are left
// out: a running vjob continues without them, and a gate bars a waiting one.
func (v *View) attachRules() {
	nodes := v.Nodes()
	for _, text := range v.facts.Rules {
		rules := placement.Rules{Text: text}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := v.facts.Reader.Wrong(rules, nodes); err != nil {
			v.Invalid.Cluster = append(v.Invalid.Cluster, err.Error())
			continue
		}
		v.layout.rules = append(v.layout.rules, rules)
	}
	for i, at := range v.eachVJob {
		job := v.VJobs[i].Job
		if job.Rules == "" {
			continue
		}
		rules := placement.Rules{VJob: job.ID, Text: job.Rules}
		switch err := v.facts.Reader.Wrong(rules, nodes); {
		case err != nil:
			if v.Invalid.VJobs == nil {
				v.Invalid.VJobs = map[cluster.VJobID]string{}
			}
			v.Invalid.VJobs[job.ID] = err.Error()
		case at >= 0:
			v.layout.applicants[at].Rules = job.Rules
		default:
			v.layout.rules = append(v.layout.rules, rules)
		}
	}
}
