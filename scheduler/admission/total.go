package admission

import (
	"fmt"

	"vjob/cluster"
)

// Holding is how much one owner has: vjobs that have not ended, and their VMs. In a limit,
// 0 is unlimited.
type Holding struct{ VJobs, VMs int }

// adds returns what the submission adds to its owner if each of its vjobs has so many VMs.
func (s *Submission) adds(vms int) Holding {
	jobs := max(1, len(s.Array))
	return Holding{VJobs: jobs, VMs: jobs * vms}
}

// validateTotal bounds what the submission takes in memory and in the store, before
// anything is made of it. Of several shapes each VM counts: all of them are kept.
func (s *Submission) validateTotal(b Limits) error {
	each := 0
	for _, shape := range s.Shapes {
		each += len(shape.VMs)
	}
	total := s.adds(max(each, len(s.VMs)))
	if b.Total == 0 || total.VMs <= b.Total {
		return nil
	}
	field, fix := "shapes", "state fewer alternatives or smaller ones"
	if len(s.Array) > 0 {
		field, fix = "array", "submit a smaller array, or smaller vjobs in it"
	}
	return &cluster.FieldError{Field: field, Value: fmt.Sprint(total.VMs), Text: fmt.Sprintf(
		"%s: %d VMs in %d vjobs requested, one submission may have %d VMs: %s", field, total.VMs, total.VJobs, b.Total, fix)}
}

// Exceeds returns which limit of the owner the submission exceeds, given what the owner has. A store
// asks inside the transaction that writes the submission.
func (s *Submission) Exceeds(has Holding) error {
	field, adds := "vms", s.adds(len(s.VMs))
	if len(s.Array) > 0 {
		field = "array"
	}
	for _, of := range []struct {
		what           string
		adds, has, may int
	}{
		{"vjobs", adds.VJobs, has.VJobs, s.Allowed.VJobs},
		{"VMs", adds.VMs, has.VMs, s.Allowed.VMs},
	} {
		if of.may > 0 && of.adds+of.has > of.may {
			return &cluster.FieldError{Field: field, Value: fmt.Sprint(of.adds), Text: fmt.Sprintf(
				"%s: %d %s requested, %s has %d in vjobs that have not ended and may have %d at once: wait until some end, or delete some",
				field, of.adds, of.what, s.Owner, of.has, of.may)}
		}
	}
	return nil
}
