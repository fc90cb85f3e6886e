package journal

import (
	"cmp"
	"time"
)

// Charge is what was reserved for the running vjobs of one user, within one hour
// of UTC. The charges of one account and hour are added up. Unlike accounts of vjobs they
// know when, which shares and quotas ask.
type Charge struct {
	User, Project, Queue string
	Hour                 time.Time // when it began
	CPUTime              int64     // milliseconds of one processor
	MemoryTime           int64     // MiB·s
}

// Compare orders charges by hours, then by accounts.
func (c Charge) Compare(o Charge) int {
	return cmp.Or(
		c.Hour.Compare(o.Hour), cmp.Compare(c.User, o.User), cmp.Compare(c.Project, o.Project), cmp.Compare(c.Queue, o.Queue))
}
