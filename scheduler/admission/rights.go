package admission

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
)

// Rights are what a submission may ask for at the expense of other users.
type Rights struct {
	Raise      bool // a priority above 0, by which others have to make room
	WholeNodes bool // rules that keep others off nodes
}

// validateRights rejects what the owner has no right to.
func (s *Submission) validateRights(nodes []cluster.Node) error {
	if s.Lacks.Raise && s.Priority > 0 {
		return &cluster.FieldError{Field: "priority", Value: fmt.Sprint(s.Priority), Text: fmt.Sprintf(
			"priority: %d requested, %s may give at most 0: more takes a right, rights.raise_priority", s.Priority, s.Owner)}
	}
	if s.Lacks.WholeNodes && s.Rules != "" {
		return placement.CheckShares(s.Rules, nodes, len(s.VMs))
	}
	return nil
}
