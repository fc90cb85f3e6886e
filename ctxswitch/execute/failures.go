package execute

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
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

// recordRefusals notes the nodes on which a member could not be created: the next attempt is made
// elsewhere, if that is possible. The gang leaves a phase, or gives the move of a member
// up.
func (p *gangState) recordRefusals(before, after *gang.Record, now time.Time) {
	gaveUp := before.Phase == gang.Creating && after.Phase == gang.Clearing ||
		before.Phase == gang.Restoring && (after.Then == gang.ThenSave || after.Phase == gang.Saving)
	moves := before.Phase == gang.Moving || before.Phase == gang.Shifting
	for rank := range before.Members {
		next := before.Members[rank].Next
		stays := moves && after.Members[rank].Next == "" && after.Members[rank].Node != next
		if next == "" || p.member(rank).err == nil || !gaveUp && !stays {
			continue
		}
		p.failures.refuse(Refusal{VM: p.job.VMs[rank].ID, Node: next, At: now, Why: p.member(rank).err.Error()})
	}
}
