package duration

import (
	"time"

	"vjob/cluster"
)

// Estimate is the line of one kind on one node, with what is known of it.
type Estimate struct {
	Line
	// Spread is the usual relative error of single actions: 0.1 is 10 %.
	Spread       float64
	Observations int
}

// Learned reports whether there are enough observations for the line to count.
func (e *Estimate) Learned() bool { return e.Observations >= Enough }

// byKind are the estimates of one node.
type byKind [Kinds]Estimate

// Estimates are the lines of all nodes at one instant. They never change.
type Estimates struct {
	priors  Priors
	nodes   map[cluster.NodeID]*byKind
	cluster byKind
}

// Duration estimates an action on a VM with so much memory. An unknown node is "": then the line
// of the cluster counts. A migration lasts as long as the slower of both ends needs. For kinds
// that are not learned ok is false.
func (e *Estimates) Duration(action cluster.ActionKind, memory cluster.MiB, from, to cluster.NodeID) (d time.Duration, ok bool) {
	kind, ok := KindOf(action, from, to)
	switch {
	case !ok:
		return 0, false
	case kind == Migrate:
		return max(e.on(from, kind).Of(memory), e.on(to, kind).Of(memory)), true
	default:
		return e.on(place(kind, from, to), kind).Of(memory), true
	}
}

// place returns the node on which an action other than a migration takes its time.
func place(kind Kind, from, to cluster.NodeID) cluster.NodeID {
	if kind == Stop || kind == Suspend {
		return from
	}
	return to
}

// on returns the estimate that counts for a node.
func (e *Estimates) on(node cluster.NodeID, kind Kind) *Estimate {
	if lines := e.nodes[node]; lines != nil && lines[kind].Learned() {
		return &lines[kind]
	}
	return &e.cluster[kind]
}

// Source is where an estimate comes from.
type Source string

// The sources, from the best one on.
const (
	FromNode     Source = "node"     // observations on the node
	FromCluster  Source = "cluster"  // the median of other nodes
	FromSettings Source = "settings" // nothing was learned
)

// NodeEstimate is what counts for one kind of actions on one node.
type NodeEstimate struct {
	Kind   Kind
	Source Source
	Line   Line
	// Observations and Spread are those of the node, also if they are too few to count.
	Observations int
	Spread       float64
}

// Node lists the estimates of a node, by kind.
func (e *Estimates) Node(node cluster.NodeID) []NodeEstimate {
	list := make([]NodeEstimate, 0, Kinds)
	for kind := range Kinds {
		n := NodeEstimate{Kind: kind, Source: FromCluster, Line: e.on(node, kind).Line}
		if lines := e.nodes[node]; lines != nil {
			n.Observations, n.Spread = lines[kind].Observations, lines[kind].Spread
		}
		switch {
		case n.Observations >= Enough:
			n.Source = FromNode
		case n.Line == e.priors[kind]:
			n.Source = FromSettings
		}
		list = append(list, n)
	}
	return list
}
