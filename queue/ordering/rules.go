// Package ordering joins queues, priorities, fair share, quotas and projects into what
// the loop asks of them: whether a vjob may be submitted as it is, in which order vjobs
// are looked at, and when that order changes though nothing else does. [Rules] are what
// an administrator has chosen; a [Order] applies them to the vjobs that there are.
//
// It is pure. It refuses to know nodes and verdicts, and how what was used is kept.
package ordering

import (
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/quota"
)

// Rules decide on the order and on who may run. They do not change.
type Rules struct {
	Queues   *Queues
	Rank     multifactor.Rules
	Leap     float64 // of [multifactor.Hysteresis]
	Shares   fairshare.Rules
	Quotas   *quota.Book
	Projects Projects
}

// Plain are the rules of a cluster for which nobody has stated any: one queue, the
// priorities that were submitted, then the order of submission.
func Plain(p queue.Policy) Rules {
	list, err := NewQueues([]Queue{{Name: "batch", Policy: p}}, "batch")
	if err != nil {
		panic(err) // these are right
	}
	book, err := quota.New(nil, list.Names())
	if err != nil {
		panic(err)
	}
	return Rules{
		Queues: list, Quotas: book,
		Rank:   multifactor.Rules{Weights: multifactor.Weights{User: 1}, OldAge: 7 * 24 * time.Hour, Horizon: 24 * time.Hour},
		Shares: fairshare.Rules{HalfLife: 7 * 24 * time.Hour, CPU: 1, Share: 1},
	}
}

// Policy is the policy of all queues together.
func (r *Rules) Policy() queue.Policy {
	return r.Queues.Policy(func(j *cluster.VJob) string { return j.Queue })
}

// maxHalfLives is after how many half-lives nobody cares any more what was used: it counts for
// less than a fifty-thousandth.
const maxHalfLives = 16

// Memory is how far back it matters what was used.
func (r *Rules) Memory() time.Duration {
	return max(maxHalfLives*r.Shares.HalfLife, r.Quotas.Within())
}

// Who is on whose behalf a vjob runs.
func (r *Rules) Who(j *cluster.VJob) quota.Who {
	return quota.Who{User: j.Owner, Project: j.Project, Queue: r.Queues.Of(j.Queue).Name}
}

// Level is the priority of a vjob's queue, as far as it counts for the order of vjobs.
func (r *Rules) Level(j *cluster.VJob) int {
	if r.Rank.Queue == 0 {
		return 0
	}
	return r.Queues.Of(j.Queue).Priority
}

// accountPath is that of a vjob in the tree of shares: its owner's within its project, or
// beside the projects if it has none.
func accountPath(user, project string) fairshare.Path {
	if project == "" {
		return fairshare.Path{user}
	}
	return fairshare.Path{project, user}
}
