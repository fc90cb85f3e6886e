package sim

import "vjob/scheduler"

// kind makes something special of some submissions.
func (r *run) kind(sub *scheduler.Submission) {
	if r.chance.IntN(6) == 0 {
		sub.Array, sub.AtOnce = make([]string, 2+r.chance.IntN(2)), r.chance.IntN(3)
	}
}
