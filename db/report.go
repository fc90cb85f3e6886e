package db

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Report adds up what vjobs have used, and how they have fared. SQLite groups and sorts; memory is needed for the
// groups only, and for sorting a few MiB before temporary files are used.
//
// One report is made at a time; others wait.
func (d *DB) Report(ctx context.Context, f journal.ReportFilter) (report journal.Report, err error) {
	select {
	case d.reports <- struct{}{}:
		defer func() { <-d.reports }()
	case <-ctx.Done():
		return journal.Report{}, ctx.Err()
	}
	err = d.snapshot(ctx, func(r *snapshot) error {
		b := newReportBuilder(r, f)
		if err := b.collect(); err != nil {
			return err
		}
		report.Rows = b.rows()
		several := b.nodes
		f.By, f.Borders = nil, []time.Time{f.Borders[0], f.Borders[len(f.Borders)-1]}
		b = newReportBuilder(r, f)
		total := b.row(0, nil)
		err := b.summarise(report.Rows, several, total)
		report.Total = *total
		return err
	})
	if err != nil {
		return journal.Report{}, fmt.Errorf("report: %w", err)
	}
	return report, nil
}

// reportBuilder collects the rows of a report, query by query.
type reportBuilder struct {
	r      *snapshot
	f      journal.ReportFilter
	nodes  bool   // grouped by nodes
	keys   string // the columns of the keys, each after a comma
	names  string // their names in common table expressions
	where  string
	args   []any
	groups map[string]*journal.ReportRow
}

// reportColumns are the columns of the keys. Tables are vjobs AS v, and n with a node.
var reportColumns = map[journal.ReportKey]string{
	journal.ReportUser: "v.owner", journal.ReportProject: "v.project", journal.ReportQueue: "v.queue",
	journal.ReportNode: "n.node", journal.ReportOutcome: "v.outcome",
}

func newReportBuilder(r *snapshot, f journal.ReportFilter) *reportBuilder {
	b := &reportBuilder{r: r, f: f, nodes: slices.Contains(f.By, journal.ReportNode), groups: map[string]*journal.ReportRow{}}
	for i, key := range f.By {
		b.keys += fmt.Sprintf(", %s AS k%d", reportColumns[key], i)
		b.names += fmt.Sprintf(", k%d", i)
	}
	spans := make([][2]int64, len(f.Borders)-1)
	for i := range spans {
		spans[i] = [2]int64{f.Borders[i].UnixNano(), f.Borders[i+1].UnixNano()}
	}
	raw, _ := json.Marshal(spans) // numbers can be encoded
	b.args = []any{string(raw)}
	for _, c := range []struct{ column, value string }{{"owner", f.User}, {"project", f.Project}, {"queue", f.Queue}} {
		if c.value != "" {
			b.args = append(b.args, c.value)
			b.where += fmt.Sprintf(" AND v.%s = ?%d", c.column, len(b.args))
		}
	}
	return b
}

// collect runs the queries.
func (b *reportBuilder) collect() error {
	return firstError(b.use, b.energy, b.unknown, b.waits, b.ends, b.lost, b.capacity)
}

// summarise fills in the row of everything. Sums are those of the other rows, unless a vjob can be in several of
// these.
func (b *reportBuilder) summarise(rows []journal.ReportRow, several bool, total *journal.ReportRow) error {
	if several {
		return b.collect()
	}
	for i := range rows {
		r := &rows[i]
		total.Reserved, total.Used, total.MemoryTime = total.Reserved+r.Reserved, total.Used+r.Used, total.MemoryTime+r.MemoryTime
		if r.Energy != nil {
			sum := *r.Energy
			if total.Energy != nil {
				sum += *total.Energy
			}
			total.Energy = &sum
		}
		l := &total.Lost
		*l = journal.LostWork{
			Runs: l.Runs + r.Lost.Runs, Requeues: l.Requeues + r.Lost.Requeues, Losses: l.Losses + r.Lost.Losses,
			Running: l.Running + r.Lost.Running, Reserved: l.Reserved + r.Lost.Reserved, Unknown: l.Unknown + r.Lost.Unknown,
		}
	}
	return firstError(b.unknown, b.waits, b.ends, b.capacity)
}

// rows are the groups in order.
func (b *reportBuilder) rows() []journal.ReportRow {
	list := make([]journal.ReportRow, 0, len(b.groups))
	for _, row := range b.groups {
		list = append(list, *row)
	}
	slices.SortFunc(list, func(x, y journal.ReportRow) int {
		return cmp.Or(x.From.Compare(y.From), cmp.Compare(y.Reserved, x.Reserved), slices.Compare(x.Keys, y.Keys))
	})
	return list
}

// row is the group with these keys in a period.
func (b *reportBuilder) row(period int, keys []string) *journal.ReportRow {
	id := fmt.Sprint(period) + "\x00" + strings.Join(keys, "\x00")
	if b.groups[id] == nil {
		b.groups[id] = &journal.ReportRow{
			From: b.f.Borders[period].UTC(), Until: b.f.Borders[period+1].UTC(), Keys: slices.Clone(keys), Outcomes: map[cluster.Outcome]int{},
		}
	}
	return b.groups[id]
}

// each runs a query whose rows begin with the period and the keys; the rest goes to dest. It calls add after each.
func (b *reportBuilder) each(query string, dest []any, add func(*journal.ReportRow)) error {
	var period int
	keys := make([]string, len(b.f.By))
	all := []any{&period}
	for i := range keys {
		all = append(all, &keys[i])
	}
	all = append(all, dest...)
	var group *journal.ReportRow // of the row before: often that of the next one, too
	last := -1
	return b.r.each(query, b.args, func(s row) error {
		err := s.Scan(all...)
		if err != nil {
			return err
		}
		if last != period || !slices.Equal(group.Keys, keys) {
			group, last = b.row(period, keys), period
		}
		add(group)
		return nil
	})
}

// periods is the table of the periods.
const periods = "(SELECT key AS p, value ->> 0 AS f, value ->> 1 AS t FROM json_each(?1))"

// grouped ends a query of sums.
func (b *reportBuilder) grouped() string { return " GROUP BY p" + b.names }

// use adds up what was used.
func (b *reportBuilder) use() error {
	var reserved, used, memory int64
	query := "SELECT p" + b.keys + `, sum(n.cpu_milliseconds), sum(n.used_milliseconds), sum(n.memory_mib_seconds)
		FROM ` + periods + ` CROSS JOIN usage_hours AS n ON n.hour_ns >= f AND n.hour_ns < t JOIN vjobs AS v ON v.id = n.vjob WHERE 1` + b.where + b.grouped()
	return b.each(query, []any{&reserved, &used, &memory}, func(row *journal.ReportRow) {
		row.Reserved, row.Used, row.MemoryTime = reserved, used, memory
	})
}

// energy adds up what was drawn. That of a vjob on one of its nodes is not known; that of nodes alone is, with what
// was drawn for no vjob.
func (b *reportBuilder) energy() error {
	var drawn int64
	query := "SELECT p" + b.keys + ", sum(n.millijoules) FROM " + periods + " CROSS JOIN vjob_hours AS n ON n.hour_ns >= f AND n.hour_ns < t JOIN vjobs AS v ON v.id = n.vjob WHERE 1" + b.where
	if b.nodes {
		if len(b.f.By) > 1 || b.where != "" {
			return nil
		}
		query = "SELECT p" + b.keys + ", sum(n.millijoules) FROM " + periods + " CROSS JOIN node_hours AS n ON n.hour_ns >= f AND n.hour_ns < t"
	}
	return b.each(query+b.grouped(), []any{&drawn}, func(row *journal.ReportRow) {
		sum := drawn
		row.Energy = &sum
	})
}

// onNodes joins vjobs with the nodes on which they ran, if the report is by nodes.
func (b *reportBuilder) onNodes(vjob string) string {
	if !b.nodes {
		return ""
	}
	return " JOIN (SELECT DISTINCT vjob, node FROM usage_hours) AS n ON n.vjob = " + vjob
}

// unknown counts the vjobs that ran in a period before use was recorded by the hour.
func (b *reportBuilder) unknown() error {
	if b.nodes {
		return nil // where they ran is unknown as well
	}
	var n int
	query := "SELECT p" + b.keys + `, count(*) FROM ` + periods + ` CROSS JOIN accounts AS a ON a.reserved_milliseconds IS NULL JOIN vjobs AS v ON v.id = a.vjob
		WHERE a.running_ns > 0 AND v.started_ns < t AND (v.ended_ns IS NULL OR v.ended_ns >= f)
		AND f < coalesce((SELECT min(hour_ns) FROM usage_hours), t)` + b.where + b.grouped()
	return b.each(query, []any{&n}, func(row *journal.ReportRow) { row.UnknownUse = n })
}

// waits finds the waiting times of the vjobs that first ran in a period.
func (b *reportBuilder) waits() error {
	one := "WITH one AS (SELECT p" + b.keys + ", max(0, v.started_ns - v.submitted_ns) AS x FROM " + periods +
		" CROSS JOIN vjobs AS v ON v.started_ns >= f AND v.started_ns < t" + b.onNodes("v.id") + " WHERE 1" + b.where + ")"
	var n int
	var mean float64
	var most time.Duration
	err := b.each(one+" SELECT p"+b.names+", count(*), avg(x), max(x) FROM one"+b.grouped(), []any{&n, &mean, &most}, func(row *journal.ReportRow) {
		row.Started, row.Wait = n, &journal.Spread{Mean: time.Duration(mean), Max: most}
	})
	if err != nil {
		return err
	}
	var wait time.Duration
	return b.ranked(one, &wait, func(row *journal.ReportRow, i int) {
		if i == middle(row.Started) {
			row.Wait.Median = wait
		}
		if i == (row.Started*95+99)/100 {
			row.Wait.P95 = wait
		}
	})
}

// middle is the rank of the median of n values by the nearest rank.
func middle(n int) int { return (n + 1) / 2 }

// ranked visits the values x of each group in order, with their ranks from 1. A window function would do the same in
// many times the time: it keeps each group to count it.
func (b *reportBuilder) ranked(one string, x any, visit func(row *journal.ReportRow, i int)) error {
	var group *journal.ReportRow
	i := 0
	return b.each(one+" SELECT p"+b.names+", x FROM one WHERE x IS NOT NULL ORDER BY p"+b.names+", x", []any{x}, func(row *journal.ReportRow) {
		if row != group {
			group, i = row, 0
		}
		i++
		visit(row, i)
	})
}

// ends counts the vjobs that ended in a period, and finds their slowdowns.
func (b *reportBuilder) ends() error {
	const ended = "state IN ('terminated', 'failed')" // the condition of the index vjobs_ended
	one := "WITH one AS (SELECT p" + b.keys + `, v.outcome AS how,
		CASE WHEN a.running_ns > 0 THEN max(1.0, (v.ended_ns - v.submitted_ns) * 1.0 / max(a.running_ns, 10000000000)) END AS x FROM ` + periods +
		" CROSS JOIN vjobs AS v INDEXED BY vjobs_ended ON v." + ended + " AND v.ended_ns >= f AND v.ended_ns < t LEFT JOIN accounts AS a ON a.vjob = v.id" + b.onNodes("v.id") + " WHERE 1" + b.where + ")"
	ran := map[*journal.ReportRow]int{}
	var n, slowed int
	var how string
	var sum float64
	err := b.each(one+" SELECT p"+b.names+", how, count(*), count(x), total(x) FROM one"+b.grouped()+", how", []any{&how, &n, &slowed, &sum}, func(row *journal.ReportRow) {
		outcome, _ := cluster.ParseOutcome(how) // what the store has written
		row.Outcomes[outcome] += n
		row.Ended += n
		if slowed == 0 {
			return
		}
		if row.Slowdown == nil {
			row.Slowdown = &journal.SlowdownSpread{}
		}
		row.Slowdown.Mean = (row.Slowdown.Mean*float64(ran[row]) + sum) / float64(ran[row]+slowed)
		ran[row] += slowed
	})
	if err != nil {
		return err
	}
	var slowdown float64
	return b.ranked(one, &slowdown, func(row *journal.ReportRow, i int) {
		if i == middle(ran[row]) {
			row.Slowdown.Median = slowdown
		}
	})
}

// lost adds up the runs that were lost.
func (b *reportBuilder) lost() error {
	var l journal.LostWork
	query := "SELECT p" + b.keys + `, count(*), sum(d.cause = 'order'), sum(d.cause IN ('lost', 'aborted')), sum(d.running_ns),
			coalesce(sum(d.cpu_milliseconds), 0), sum(d.cpu_milliseconds IS NULL)
		FROM ` + periods + " CROSS JOIN discarded_runs AS d ON d.at_ns >= f AND d.at_ns < t JOIN vjobs AS v ON v.id = d.vjob" + b.onNodes("d.vjob") + " WHERE 1" + b.where + b.grouped()
	return b.each(query, []any{&l.Runs, &l.Requeues, &l.Losses, &l.Running, &l.Reserved, &l.Unknown}, func(row *journal.ReportRow) { row.Lost = l })
}

// capacity adds up what the nodes offered in each period.
func (b *reportBuilder) capacity() error {
	sums, err := b.r.capacityTimes(b.f.Borders)
	if err != nil {
		return err
	}
	at := slices.Index(b.f.By, journal.ReportNode)
	for _, row := range b.groups {
		of := ""
		if at >= 0 {
			of = row.Keys[at]
		}
		period := slices.IndexFunc(b.f.Borders, row.From.Equal)
		if sum, known := sums[of][period]; known {
			row.CapacityTime = &sum
		}
	}
	return nil
}

// capacityTimes returns by node and period how many milliseconds of one processor it offered; "" is all nodes. A
// period before the first record is missing.
func (r *snapshot) capacityTimes(borders []time.Time) (map[string]map[int]int64, error) {
	sums := map[string]map[int]int64{"": {}}
	last := journal.NodeCapacity{}
	charge := func(until time.Time) {
		for p := range len(borders) - 1 {
			from, to := borders[p], borders[p+1]
			if last.At.After(from) {
				from = last.At
			}
			if until.Before(to) {
				to = until
			}
			if last.Node == "" || !from.Before(to) {
				continue
			}
			node := string(last.Node)
			if sums[node] == nil {
				sums[node] = map[int]int64{}
			}
			ms := int64(float64(last.Has.CPU) * to.Sub(from).Seconds())
			sums[node][p] += ms
			sums[""][p] += ms
		}
	}
	end := borders[len(borders)-1]
	err := r.each("SELECT node, at_ns, cpu_milli FROM node_capacity WHERE at_ns < ? ORDER BY node, at_ns, id", []any{end.UnixNano()}, func(s row) error {
		var next journal.NodeCapacity
		if err := s.Scan(&next.Node, instant{&next.At}, &next.Has.CPU); err != nil {
			return err
		}
		if next.Node == last.Node {
			charge(next.At)
		} else {
			charge(end)
		}
		last = next
		return nil
	})
	charge(end)
	return sums, err
}
