package scheduler

import (
	"time"

	"vjob/cluster"
)

// Submission is a vjob as a user asks for it. VMs carry no identity yet: their
// place in the list is their rank.
type Submission struct {
	Key      string // idempotency key of the owner, "" for none
	Owner    string
	Name     string
	At       time.Time
	Priority int
	Walltime time.Duration
	VMs      []cluster.VM
	Rules    string // in the language of docs/rules.md; its VMs are VM0, VM1, …
	Held     bool
	cluster.Terms
}

// VJob turns the submission into the vjob with the given number.
func (s *Submission) VJob(id cluster.VJobID) *cluster.VJob {
	job := &cluster.VJob{
		ID: id, Name: s.Name, Owner: s.Owner, Submitted: s.At,
		Priority: s.Priority, Walltime: s.Walltime, Held: s.Held, Rules: s.Rules, Terms: s.Clone(),
		VMs: make([]cluster.VM, len(s.VMs)), Reason: "submitted",
	}
	for rank, vm := range s.VMs {
		vm.ID = cluster.VMID{VJob: id, Rank: rank}
		job.VMs[rank] = vm
	}
	return job
}
