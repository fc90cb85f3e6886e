package execute

import (
	"slices"
	"time"

	"vjob/cluster"
)

// failures are the assignments of a gang in a row that did not lead where they should.
type failures struct {
	count int
	last  time.Time
	why   string // of the last one
	// refusals are the nodes on which members failed to start since the vjob last got
	// where it should, in order of time.
	refusals []Refusal
}

// add counts a failure.
func (f *failures) add(now time.Time, why string) {
	f.count++
	f.last, f.why = now, why
}

// forget begins anew, after an assignment that led where it should.
func (f *failures) forget() { f.count, f.refusals = 0, nil }

// refuse notes a refusal in place of an earlier one of the same VM by the same node. Reports share
// the list, so that it is replaced.
func (f *failures) refuse(by Refusal) {
	f.refusals = slices.DeleteFunc(slices.Clone(f.refusals), func(r Refusal) bool { return r.VM == by.VM && r.Node == by.Node })
	f.refusals = append(f.refusals, by)
}

// Refusal is a node on which a member could not be created.
type Refusal struct {
	VM   cluster.VMID
	Node cluster.NodeID
	At   time.Time
	Why  string
}
