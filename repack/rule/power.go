package rule

import (
	"fmt"
	"slices"

	"vjob/repack"
)

// The rules on the state in which nodes end.
var (
	_ = register(powerKind("online", "the nodes are on at the end", repack.Online))
	_ = register(powerKind("offline", "the nodes are off at the end", repack.Offline))
)

func powerKind(name, doc string, want repack.NodeState) Kind {
	return Kind{
		Name: name, Doc: doc,
		Params: []Param{{Name: "nodes", Type: Nodes}},
		Modes:  Discrete,
		make: func(b base) repack.Rule {
			return &power{base: b, nodes: b.args.nodes(), want: want}
		},
	}
}

type power struct {
	base
	nodes []int
	want  repack.NodeState
}

// Amend asks for the state, whatever the instance asked for; but two rules may not
// ask for two.
func (p *power) Amend(in *repack.Instance) error {
	for _, n := range p.nodes {
		if in.Nodes[n].Want == p.want {
			continue
		}
		for _, r := range in.Rules {
			other, ok := r.Rule.(*power)
			if other == p {
				break
			}
			if ok && r.Penalty == 0 && other.want != p.want && slices.Contains(other.nodes, n) {
				return fmt.Errorf("%s and %s contradict each other: %s cannot end %s and %s", other, p, in.NodeName(n), other.want, p.want)
			}
		}
		in.Nodes[n].Want = p.want
	}
	return nil
}

// Check reports each node that ends otherwise.
func (p *power) Check(t *repack.Timeline) (list []repack.Breach) {
	for _, n := range p.nodes {
		if t.Nodes[n] != p.want {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%s ends %s", t.Instance.NodeName(n), t.Nodes[n]), At: repack.Forever})
		}
	}
	return list
}

// Post has nothing to say: what is wanted is part of the amended instance.
func (p *power) Post(repack.ConstraintStore) {}
