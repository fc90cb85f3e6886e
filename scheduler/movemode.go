package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// MoveModeChange requests another mode of moves of a vjob.
type MoveModeChange struct {
	VJob  cluster.VJobID
	Moves cluster.MoveMode
	By    string
}

// SetMoves changes whether the VMs of a vjob move to improve the cluster. It fails with ErrNotFound.
func (v *VJobs) SetMoves(now time.Time, m MoveModeChange) error {
	r, ok := v.exec.Job(m.VJob)
	if !ok {
		return fmt.Errorf("vjob %s: %w", m.VJob, cluster.ErrNotFound)
	}
	if r.Job.Moves == m.Moves {
		return nil
	}
	return v.exec.SetMoves(now, m.VJob, m.Moves, fmt.Sprintf("vjob %s: moves of its VMs are %s now, by %s", m.VJob, m.Moves, m.By))
}
