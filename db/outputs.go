package db

import (
	"context"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// openOutputs is the condition of a partial index.
const openOutputs = "output = 1"

// OpenOutputs lists the vjobs that keep their output in files and have started, until [DB.CloseOutput].
func (d *DB) OpenOutputs(ctx context.Context) (list []journal.OpenOutput, err error) {
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each("SELECT id, owner, ended_ns IS NOT NULL FROM vjobs WHERE "+openOutputs+
			" AND (started_ns IS NOT NULL OR ended_ns IS NOT NULL) ORDER BY id", nil, func(s row) error {
			var o journal.OpenOutput
			err := s.Scan(&o.VJob, &o.Owner, &o.Ended)
			list = append(list, o)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("output files: %w", err)
	}
	return list, nil
}

// CloseOutput notes that the output of a vjob, which has ended, is complete in its files.
func (d *DB) CloseOutput(ctx context.Context, id cluster.VJobID) error {
	err := d.writer.do(ctx, func(t *tx) error {
		return t.exec("UPDATE vjobs SET output = 2 WHERE id = ? AND "+openOutputs, int64(id))
	})
	if err != nil {
		return fmt.Errorf("output files of vjob %s: %w", id, err)
	}
	return nil
}
