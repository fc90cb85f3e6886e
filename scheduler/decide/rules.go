package decide

import (
	"strings"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
)

// read takes in the rules of the cluster, but those that cannot be kept any more.
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

// state puts the rules of a vjob into the picture. A vjob with rules that cannot be
// understood any more goes on without them if it runs, and else does not start.
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
