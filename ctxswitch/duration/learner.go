package duration

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
)

// tolerance is by which factor a migration may exceed an estimate that still explains it.
const tolerance = 1.25

// Learner learns durations. It has one owner.
type Learner struct {
	samples map[key][]sample // at most [Window] each, the oldest first
	present *Estimates       // as of the last observation
	shared  bool             // present was given away and must not change
	stale   [Kinds]bool      // the line of the cluster is out of date
}

// key is what one line is learned for.
type key struct {
	node cluster.NodeID
	kind Kind
}

// NewLearner returns a learner that knows the priors and these observations, the oldest first.
func NewLearner(priors Priors, past []Observation) *Learner {
	l := &Learner{samples: map[key][]sample{}, present: &Estimates{priors: priors, nodes: map[cluster.NodeID]*byKind{}}}
	for i := range l.present.cluster {
		l.present.cluster[i] = Estimate{Line: priors[i]}
	}
	touched := map[key]bool{}
	for i := range past {
		touched[l.add(&past[i])] = true
	}
	for k := range touched {
		l.update(k)
	}
	l.refresh()
	return l
}

// Taken is how long an action took.
type Taken struct {
	Action   cluster.ActionKind
	From, To cluster.NodeID // as in a plan
	Memory   cluster.MiB
	At       time.Time // when it had ended
	Took     time.Duration
}

// Learn takes in how long an action took, and returns the observations to keep: those that a later
// learner needs for the same estimates. Actions of kinds that are not learned give none. A
// migration is as fast as the slower of its two ends. So it counts for an end if it
// does not exceed the estimate there, within the tolerance: one of these must have been the slower. If
// it exceeds both estimates, it counts for both ends.
func (l *Learner) Learn(t *Taken) []Observation {
	kind, ok := KindOf(t.Action, t.From, t.To)
	if !ok {
		return nil
	}
	nodes := []cluster.NodeID{place(kind, t.From, t.To)}
	if kind == Migrate {
		nodes = l.slower(t)
	}
	learned := make([]Observation, len(nodes))
	for i, node := range nodes {
		learned[i] = Observation{Node: node, Kind: kind, At: t.At, Memory: t.Memory, Taken: t.Took}
		l.update(l.add(&learned[i]))
	}
	return learned
}

// slower returns the ends that may have determined how long a migration took.
func (l *Learner) slower(t *Taken) (ends []cluster.NodeID) {
	for _, node := range []cluster.NodeID{t.From, t.To} {
		if float64(t.Took) <= tolerance*float64(l.present.on(node, Migrate).Of(t.Memory)) {
			ends = append(ends, node)
		}
	}
	if len(ends) == 0 {
		return []cluster.NodeID{t.From, t.To}
	}
	return ends
}

// add adds a sample and forgets the oldest one beyond the window.
func (l *Learner) add(o *Observation) key {
	k := key{o.Node, o.Kind}
	list := l.samples[k]
	if len(list) == Window {
		list = slices.Delete(list, 0, 1)
	}
	l.samples[k] = append(list, sampleOf(o))
	return k
}

// update computes the line of a node and kind again.
func (l *Learner) update(k key) {
	if l.shared {
		l.present, l.shared = &Estimates{priors: l.present.priors, nodes: maps.Clone(l.present.nodes), cluster: l.present.cluster}, false
	}
	var lines byKind
	if old := l.present.nodes[k.node]; old != nil {
		lines = *old
	}
	found, spread := fit(l.samples[k], lineOf(l.present.priors[k.kind]))
	lines[k.kind] = Estimate{Line: found.round(), Spread: spread, Observations: len(l.samples[k])}
	l.present.nodes[k.node] = &lines
	l.stale[k.kind] = true
}

// Estimates returns the present estimates.
func (l *Learner) Estimates() *Estimates {
	l.refresh()
	l.shared = true
	return l.present
}

// Duration estimates an action as [Estimates.Duration] does; the line of the cluster is that of the
// last call of Estimates. It costs less than new estimates after each observation.
func (l *Learner) Duration(action cluster.ActionKind, memory cluster.MiB, from, to cluster.NodeID) (time.Duration, bool) {
	return l.present.Duration(action, memory, from, to)
}

// refresh computes the lines of the cluster that have changed.
func (l *Learner) refresh() {
	for kind := range Kinds {
		if l.stale[kind] { // never while present is shared
			l.present.cluster[kind] = l.clusterLine(kind)
			l.stale[kind] = false
		}
	}
}

// clusterWeight is how many nodes the line of the settings counts for in the median of the cluster:
// one node that is slow is no reason to expect the same of others, two are.
const clusterWeight = 1.5

// clusterLine returns the median of the lines of nodes with enough observations. The number of
// its observations is that of all nodes together.
func (l *Learner) clusterLine(kind Kind) Estimate {
	prior := l.present.priors[kind]
	constants := []weighted{{float64(prior.Constant), clusterWeight}}
	slopes := []weighted{{float64(prior.PerGiB), clusterWeight}}
	var e Estimate
	for _, lines := range l.present.nodes {
		own := lines[kind]
		e.Observations += own.Observations
		if own.Learned() {
			constants = append(constants, weighted{float64(own.Constant), 1})
			slopes = append(slopes, weighted{float64(own.PerGiB), 1})
		}
	}
	e.Line = Line{time.Duration(median(constants)), time.Duration(median(slopes))}
	return e
}
