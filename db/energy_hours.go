package db

import (
	"context"
	"fmt"
	"time"

	"vjob/ctxswitch/journal"
)

// nodeHour adds to the energy that a node has drawn in an hour.
func (t *tx) nodeHour(h *journal.NodeHour) error {
	return t.exec(`INSERT INTO node_hours (hour_ns, node, millijoules, unused) VALUES (?, ?, ?, ?)
		ON CONFLICT (hour_ns, node) DO UPDATE SET millijoules = millijoules + excluded.millijoules, unused = unused + excluded.unused`,
		h.Hour.UnixNano(), string(h.Node), h.Millijoules, h.Unused)
}

// vjobHour adds to the energy that a vjob has drawn in an hour. The waiting time of a vjob
// that may have waited for a lower price is that from its submission to its start.
func (t *tx) vjobHour(h *journal.VJobHour) error {
	return t.exec(`INSERT INTO vjob_hours (hour_ns, vjob, owner, project, queue, millijoules, waited_ns)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?7 THEN coalesce((SELECT max(0, started_ns - submitted_ns) FROM vjobs WHERE id = ?2), 0) ELSE 0 END)
		ON CONFLICT (hour_ns, vjob) DO UPDATE SET millijoules = millijoules + excluded.millijoules, waited_ns = max(waited_ns, excluded.waited_ns)`,
		h.Hour.UnixNano(), int64(h.VJob), h.Owner, h.Project, h.Queue, h.Millijoules, h.Shifted)
}

// Energy adds up the energy that was drawn, by the hour, in order of hours and names. Energy
// that was drawn for no vjob comes last in its hour.
func (d *DB) Energy(ctx context.Context, f journal.EnergyFilter) (list []journal.EnergyRow, err error) {
	query, args := energyQuery(f)
	err = d.snapshot(ctx, func(r *snapshot) error {
		return r.each(query, args, func(s row) error {
			var row journal.EnergyRow
			err := s.Scan(instant{&row.Hour}, &row.Unused, &row.Name, &row.Waited, &row.Millijoules)
			list = append(list, row)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("sum the energy: %w", err)
	}
	return list, nil
}

// energyKeys are the columns by which energy is grouped.
var energyKeys = map[journal.EnergyBy]string{
	journal.ByOwner: "owner", journal.ByProject: "project", journal.ByQueue: "queue", journal.ByVJob: "CAST(vjob AS TEXT)",
}

// energyQuery selects the energy of vjobs by their key, then that of no vjob; or all of it by
// nodes.
func energyQuery(f journal.EnergyFilter) (query string, args []any) {
	const within = " FROM %s WHERE hour_ns >= ?1 AND hour_ns < ?2"
	args = []any{f.From.UnixNano(), f.To.UnixNano()}
	if f.By == journal.ByNode {
		return "SELECT hour_ns, 0, node, 0, millijoules" + fmt.Sprintf(within, "node_hours") + " ORDER BY 1, 3", args
	}
	query = "SELECT hour_ns, 0, " + energyKeys[f.By] + " AS name, waited_ns, sum(millijoules)" + fmt.Sprintf(within, "vjob_hours")
	if f.Owner != "" {
		return query + " AND owner = ?3 GROUP BY 1, 3, 4 ORDER BY 1, 3, 4", append(args, f.Owner)
	}
	return query + " GROUP BY 1, 3, 4 UNION ALL SELECT hour_ns, 1, '', 0, sum(unused)" + fmt.Sprintf(within, "node_hours") +
		" GROUP BY 1 ORDER BY 1, 2, 3, 4", args
}

// oldHours finds the rows of a table of hours that may be deleted.
func oldHours(table string) func(r *snapshot, before time.Time, _ int64) ([]int64, error) {
	return func(r *snapshot, before time.Time, _ int64) ([]int64, error) {
		return r.batch("SELECT id, 1 FROM "+table+" WHERE hour_ns < ? ORDER BY hour_ns, id LIMIT ?", before)
	}
}

func removeHours(table string) func(t *tx, _ []int64, list string) error {
	return func(t *tx, _ []int64, list string) error {
		return t.exec("DELETE FROM "+table+" WHERE id "+listed, list)
	}
}
