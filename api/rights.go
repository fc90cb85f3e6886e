package api

import (
	"slices"

	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// Rights lists users with rights at the expense of others; administrators have all of them.
type Rights struct {
	RaisePriority []string
	WholeNodes    []string
}

// Each stands for all users.
const Each = "each"

// missing are the rights that a subject does not have.
func (r *Rights) missing(caller Subject) admission.Rights {
	lacks := func(users []string) bool {
		return caller.Role != journal.RoleAdmin && !slices.Contains(users, Each) && !slices.Contains(users, caller.Name)
	}
	return admission.Rights{Raise: lacks(r.RaisePriority), WholeNodes: lacks(r.WholeNodes)}
}
