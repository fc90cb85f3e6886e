package decide

import (
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
)

// read takes in the rules of the cluster, without those that can no longer be kept.
func (p *View) read(f *Facts, nodes []cluster.Node) {
	for _, text := range f.Rules {
		r := placement.Rules{Text: text}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := f.Reader.Wrong(r, nodes); err != nil {
			p.InvalidRules = append(p.InvalidRules, err.Error())
			continue
		}
		p.rules = append(p.rules, r)
	}
}

// state takes in the rules of a vjob. If they can no longer be parsed or kept, a running vjob
// goes on without them, and a waiting one is ineligible.
func (p *View) state(r *execute.Report, reader *placement.Reader, nodes []cluster.Node) {
	if r.Job.Rules == "" {
		return
	}
	rules := placement.Rules{VJob: r.Job.ID, Text: r.Job.Rules}
	if err := reader.Wrong(rules, nodes); err != nil {
		p.ineligible[r.Job.ID] = err.Error()
		return
	}
	if last := len(p.applicants) - 1; last >= 0 && p.applicants[last].VJob == r.Job.ID {
		p.applicants[last].Rules = r.Job.Rules
		return
	}
	p.rules = append(p.rules, rules)
}
