// Package admission turns requests into vjobs: it checks a submission against the limits and the
// empty cluster, then against its queue and its project. Package scheduler checks it against
// running vjobs and reservations.
package admission

import (
	"time"

	"vjob/cluster"
	"vjob/queue/ordering"
)

// Submission is a vjob as a user asks for it. VMs carry no identity yet: their
// place in the list is their rank.
type Submission struct {
	Key      string // idempotency key of the owner, "" for none
	Owner    string
	Origin   cluster.Origin `json:"-"` // old fingerprints do not hold it
	Name     string
	At       time.Time
	Priority int
	Walltime time.Duration
	VMs      []cluster.VM
	Rules    string // in the language of docs/reference/rules.md; its VMs are VM0, VM1, …
	Held     bool
	cluster.Terms
	// Array holds the parameters of an array, one for each of its vjobs, which differ in nothing
	// else; empty for a single vjob. The vjobs of a named array have its name with their index:
	// "sweep[7]".
	Array []string `json:",omitempty"` // that old fingerprints of submissions hold
	// Allowed is what the owner may have at once, this submission included.
	Allowed Holding `json:"-"` // a limit, and no part of what is asked for
	Lacks   Rights  `json:"-"` // that the owner does not have; none by itself
}

// VJobs returns the vjobs of the submission. Their ids are consecutive.
func (s *Submission) VJobs(first cluster.VJobID) []*cluster.VJob {
	if len(s.Array) == 0 {
		return []*cluster.VJob{s.VJob(first)}
	}
	jobs, terms := make([]*cluster.VJob, len(s.Array)), new(s.Clone())
	for i, parameter := range s.Array {
		job := s.vjob(first+cluster.VJobID(i), terms)
		job.Array, job.Index, job.Parameter = first, i+1, parameter
		job.Name = cluster.MemberName(s.Name, i+1)
		jobs[i] = job
	}
	return jobs
}

// submitted is why a vjob waits that was never begun.
var submitted = &cluster.Cause{Kind: cluster.CauseSubmitted}

// VJob returns the vjob of the submission with the given id.
func (s *Submission) VJob(id cluster.VJobID) *cluster.VJob { return s.vjob(id, new(s.Clone())) }

// vjob returns the vjob of the submission with given terms, which the vjobs of an array share.
func (s *Submission) vjob(id cluster.VJobID, terms *cluster.Terms) *cluster.VJob {
	job := &cluster.VJob{
		ID: id, Name: s.Name, Owner: s.Owner, Origin: s.Origin, Submitted: s.At,
		Priority: s.Priority, Walltime: s.Walltime, Held: s.Held, Rules: s.Rules, Terms: terms,
		VMs: make([]cluster.VM, len(s.VMs)), Cause: submitted,
	}
	for rank, vm := range s.VMs {
		vm.ID = cluster.VMID{VJob: id, Rank: rank}
		job.VMs[rank] = vm
	}
	return job
}

// Route fills in the queue and the project of a submission, and rejects it if these do not admit it: the error names the
// field. It returns the vjob, without a number, for further checks.
func (s *Submission) Route(rules *ordering.Settings) (*cluster.VJob, error) {
	job := s.VJob(0)
	if err := rules.Admit(job); err != nil {
		return nil, err
	}
	s.Queue, s.Project = job.Queue, job.Project
	return job, nil
}

// Claims reports whether a submission needs a confirmation against running vjobs: for a reservation,
// or inside a container.
func (s *Submission) Claims() bool { return s.Inner != 0 || !s.Reservation.IsZero() }
