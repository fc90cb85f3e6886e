package request

import (
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/repack/script"
)

// allNodes is the set of all nodes.
const allNodes = "$ALL_NODES"

// nodes is the set of those that match: in words that also hold for nodes which come
// later where the language has them, else one by one.
func (r *ruleWriter) nodes() string {
	if len(r.filters) == 0 {
		return allNodes
	}
	var list []string
	for _, f := range r.filters {
		text, ok := r.p.labelled(f.Expr)
		if !ok {
			return nodeSet(r.matching)
		}
		list = append(list, text)
	}
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, " & ") + ")"
}

// labelled is a condition in the language of rules, if it only says which values
// labels have. A value that reads as a number compares as one, which the language
// does not; one that no node has, it refuses.
func (p *placer) labelled(x property.Expr) (text string, ok bool) {
	switch x := x.(type) {
	case property.Compare:
		key, known := labelKey(x.Left.Text, p.known)
		equal := x.Op == "=" && x.Left.Kind == property.Name && x.Right.Kind == property.Text && !startsLikeNumber(x.Right.Text)
		value := x.Right.Text
		there := slices.ContainsFunc(p.inventory.Nodes, func(n cluster.Node) bool { return n.Labels[key] == value })
		return fmt.Sprintf("nodes(%s=%s)", key, script.Name(value)), known && equal && there && value != "" && value == oar.Printable(value) && !startsLikeNumber(key)
	case property.In:
		var list []string
		for _, o := range x.List {
			text, ok := p.labelled(property.Compare{Op: "=", Left: x.X, Right: o})
			if !ok || x.Not {
				return "", false
			}
			list = append(list, text)
		}
		return "(" + strings.Join(list, " + ") + ")", true
	case property.And:
		return p.joined(x, " & ")
	case property.Or:
		return p.joined(x, " + ")
	default:
		return "", false
	}
}

func (p *placer) joined(list []property.Expr, sign string) (string, bool) {
	texts := make([]string, len(list))
	for i, x := range list {
		text, ok := p.labelled(x)
		if !ok {
			return "", false
		}
		texts[i] = text
	}
	return "(" + strings.Join(texts, sign) + ")", true
}

// nodeSet is nodes one by one.
func nodeSet(nodes []*cluster.Node) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = script.Name(string(n.ID))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// startsLikeNumber also keeps apart from labels what the language reads as a number:
// $ALL_NODES / 50.
func startsLikeNumber(s string) bool { return s != "" && strings.IndexByte("0123456789.-", s[0]) >= 0 }
