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
	Rules    []SubmittedRule
	Held     bool
}

// SubmittedRule is a placement rule on the submission's own VMs, by rank.
type SubmittedRule struct {
	Kind  cluster.RuleKind
	Ranks []int // empty: all VMs of the vjob
	Nodes []cluster.NodeID
}

// VJob turns the submission into the vjob with the given number.
func (s *Submission) VJob(id cluster.VJobID) *cluster.VJob {
	job := &cluster.VJob{
		ID: id, Name: s.Name, Owner: s.Owner, Submitted: s.At,
		Priority: s.Priority, Walltime: s.Walltime, Held: s.Held,
		VMs: make([]cluster.VM, len(s.VMs)), Reason: "submitted",
	}
	for rank, vm := range s.VMs {
		vm.ID = cluster.VMID{VJob: id, Rank: rank}
		job.VMs[rank] = vm
	}
	for _, r := range s.Rules {
		job.Rules = append(job.Rules, r.rule(job))
	}
	return job
}

func (r SubmittedRule) rule(job *cluster.VJob) cluster.Rule {
	rule := cluster.Rule{Kind: r.Kind, Nodes: r.Nodes}
	if len(r.Ranks) == 0 {
		for _, vm := range job.VMs {
			rule.VMs = append(rule.VMs, vm.ID)
		}
	}
	for _, rank := range r.Ranks {
		rule.VMs = append(rule.VMs, cluster.VMID{VJob: job.ID, Rank: rank})
	}
	return rule
}
