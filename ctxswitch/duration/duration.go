// Package duration estimates how long actions on VMs last on each node, from what they took there.
//
// An estimate is a [Line]: a constant and a time per GiB of memory. A [Learner] keeps the last
// [Window] observations of each node and [Kind], and fits a line to them that outliers hardly
// change (fit.go). Before a node has [Enough] observations of a kind, the line of the cluster
// counts, which is the median of the nodes, and before that the line of the settings.
//
// The learner has one owner. [Learner.Estimates] returns values that never change, which other
// goroutines may read. The same observations in the same order give the same estimates.
package duration

import (
	"time"

	"vjob/cluster"
)

// Kind is what is estimated separately on each node.
type Kind uint8

// The kinds. A resume is remote if its image lies on another node than the VM comes to.
const (
	Boot Kind = iota
	Stop
	Suspend
	Resume
	ResumeRemote
	Migrate
	Kinds // how many there are
)

// kindNames are the names of the kinds, in order.
var kindNames = [Kinds]string{"boot", "stop", "suspend", "resume", "remote resume", "migrate"}

// String returns the name that users read.
func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name of a kind.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, name := range kindNames {
		if name == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return cluster.BadField("kind", string(b), "one of boot, stop, suspend, resume, remote resume, migrate")
}

// KindOf returns the kind of an action; ok is false if its duration is not learned. From is where
// the VM or its image is, "" if unknown.
func KindOf(action cluster.ActionKind, from, to cluster.NodeID) (kind Kind, ok bool) {
	switch action {
	case cluster.Boot:
		return Boot, true
	case cluster.Stop:
		return Stop, true
	case cluster.Suspend:
		return Suspend, true
	case cluster.Resume:
		if from != "" && from != to {
			return ResumeRemote, true
		}
		return Resume, true
	case cluster.Migrate:
		return Migrate, true
	default: // a pause takes milliseconds
		return 0, false
	}
}

// Line is a duration that grows with the memory of the VM. Neither part is negative.
type Line struct {
	Constant time.Duration
	PerGiB   time.Duration
}

// Of returns the duration for an amount of memory.
func (l Line) Of(memory cluster.MiB) time.Duration {
	return l.Constant + time.Duration(float64(l.PerGiB)*float64(memory)/float64(cluster.GiB))
}

// Priors are the lines of the settings, by kind.
type Priors [Kinds]Line

// Observation is how long one action took.
type Observation struct {
	Node   cluster.NodeID
	Kind   Kind
	At     time.Time // when it had ended
	Memory cluster.MiB
	Taken  time.Duration
}
