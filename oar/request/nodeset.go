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

// nodes returns the set of matching nodes: as a condition that also holds for new nodes if the
// language can state it, else as a list.
func (r *ruleWriter) nodes() string {
	if len(r.filters) == 0 {
		return allNodes
	}
	var list []string
	for _, f := range r.filters {
		text, ok := r.placer.translateCondition(f.Expr)
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

// translateCondition translates a condition on values of labels to the language of rules. ok is false for
// conditions that the language lacks: comparisons of numbers, and values that no node has.
func (p *placer) translateCondition(x property.Expr) (text string, ok bool) {
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
			text, ok := p.translateCondition(property.Compare{Op: "=", Left: x.X, Right: o})
			if !ok || x.Not {
				return "", false
			}
			list = append(list, text)
		}
		return "(" + strings.Join(list, " + ") + ")", true
	case property.And:
		return p.joinConditions(x, " & ")
	case property.Or:
		return p.joinConditions(x, " + ")
	default:
		return "", false
	}
}

func (p *placer) joinConditions(list []property.Expr, sign string) (string, bool) {
	texts := make([]string, len(list))
	for i, x := range list {
		text, ok := p.translateCondition(x)
		if !ok {
			return "", false
		}
		texts[i] = text
	}
	return "(" + strings.Join(texts, sign) + ")", true
}

// nodeSet lists nodes.
func nodeSet(nodes []*cluster.Node) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = script.Name(string(n.ID))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// startsLikeNumber reports whether the rule language may read s as a number, as in $ALL_NODES / 50.
func startsLikeNumber(s string) bool { return s != "" && strings.IndexByte("0123456789.-", s[0]) >= 0 }
