// Package ordering decides the order of vjobs, and whether a vjob may be submitted as it is: it
// combines queues, priorities, fair share, quotas and projects. [Settings] are what an administrator has
// chosen; an [Order] applies them to the current vjobs.
package ordering

import (
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/pool"
	"vjob/queue/quota"
)

// Settings determine the order and the admission of vjobs. They do not change.
type Settings struct {
	Queues   *Queues
	Rank     multifactor.Settings
	Leap     float64 // of [multifactor.Hysteresis]
	Shares   fairshare.Settings
	Quotas   *quota.Book
	Projects Projects
}

// DefaultSettings returns the defaults: one queue, the priorities as submitted, then the order of submission.
func DefaultSettings(p queue.Policy) Settings {
	list, err := NewQueues([]Queue{{Name: "batch", Policy: p}}, "batch")
	if err != nil {
		panic(err) // impossible
	}
	book, err := quota.New(nil, list.Names())
	if err != nil {
		panic(err)
	}
	return Settings{
		Queues: list, Quotas: book,
		Rank:   multifactor.Settings{Weights: multifactor.Weights{User: 1}, OldAge: 7 * 24 * time.Hour, Horizon: 24 * time.Hour},
		Shares: fairshare.Settings{HalfLife: 7 * 24 * time.Hour, CPU: 1, Share: 1},
	}
}

// Policy returns the policy of all queues together.
func (r *Settings) Policy() queue.Policy {
	return r.Queues.Policy(func(j *cluster.VJob) string { return j.Queue })
}

// maxHalfLives is after how many half-lives use is forgotten: it counts for less than a
// fifty-thousandth.
const maxHalfLives = 16

// Memory returns how long past use matters.
func (r *Settings) Memory() time.Duration {
	return max(maxHalfLives*r.Shares.HalfLife, r.Quotas.Within())
}

// Association returns the user, the project and the queue of a vjob.
func (r *Settings) Association(j *cluster.VJob) quota.Association {
	return quota.Association{User: j.Owner, Project: j.Project, Queue: r.Queues.of(j.Queue).Name}
}

// Pool returns the pool of a vjob: its own, or that of its project, or that of its queue; "" is
// the cluster. An unknown pool counts as not named.
func (r *Settings) Pool(j *cluster.VJob, known func(name string) bool) string {
	for _, name := range [...]string{j.Pool, r.Projects.pool(j.Project), r.Queues.of(j.Queue).Pool} {
		if name == pool.Root {
			return ""
		}
		if name != "" && known(name) {
			return name
		}
	}
	return ""
}

// Level returns the priority of the queue of a vjob; 0 if queues have no weight.
func (r *Settings) Level(j *cluster.VJob) int {
	if r.Rank.Queue == 0 {
		return 0
	}
	return r.Queues.of(j.Queue).Priority
}

// accountPath returns the account of a vjob in the tree of shares: that of its user within its project,
// or at the top without a project.
func accountPath(user, project string) fairshare.Path {
	if project == "" {
		return fairshare.Path{user}
	}
	return fairshare.Path{project, user}
}
