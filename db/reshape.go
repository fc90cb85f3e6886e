package db

import (
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// reshape replaces the VMs of a vjob by those of another of its shapes.
func (t *tx) reshape(r *journal.Reshape) error {
	var state, phase string
	found, err := t.row("SELECT state, phase FROM vjobs JOIN gangs ON gangs.vjob = vjobs.id WHERE vjobs.id = ?", []any{int64(r.VJob)}, &state, &phase)
	if err != nil {
		return err
	}
	if !found {
		return notFound("vjob", r.VJob)
	}
	if err := checkReshape(r, state, phase); err != nil {
		return err
	}
	var sum cluster.Resources
	for _, need := range r.Reserved {
		sum = sum.Plus(need)
	}
	err = t.exec("UPDATE vjobs SET shape = ?, walltime_ns = ?, vm_count = ?, cpu_milli = ?, memory_mib = ? WHERE id = ?",
		r.Shape, int64(r.Walltime), len(r.Reserved), int64(sum.CPU), int64(sum.Memory), int64(r.VJob))
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM vms WHERE vjob = ?", int64(r.VJob)); err != nil {
		return err
	}
	for rank, need := range r.Reserved {
		// The payload is that of the shape in the specification.
		err := t.exec("INSERT INTO vms (vjob, rank, cpu_milli, memory_mib, payload) VALUES (?, ?, ?, ?, 0)",
			int64(r.VJob), rank, int64(need.CPU), int64(need.Memory))
		if err != nil {
			return err
		}
	}
	return nil
}
