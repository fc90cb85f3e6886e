package vjobs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cmd/vjob/display"
)

// rankTable is vjobs in the order in which they are looked at, and why.
func rankTable(jobs []wire.VJob) *display.Table {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j wire.VJob) bool { return j.Rank == nil })
	slices.SortFunc(jobs, func(a, b wire.VJob) int {
		return cmp.Or(cmp.Compare(b.Rank.Points, a.Rank.Points), a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	t := &display.Table{Heads: display.Heads(">ID NAME OWNER PROJECT QUEUE STATE >PRIORITY PARTS")}
	for i := range jobs {
		j := &jobs[i]
		t.Row(strconv.FormatInt(j.ID, 10), display.Dash(j.Name), j.Owner, display.Dash(j.Project), display.Dash(j.Queue), display.Dash(j.State),
			strconv.FormatInt(j.Rank.Points, 10), display.Dash(parts(j.Rank)))
	}
	return t
}

// parts is the sum that makes a rank: "250 queue + 200 age - 30 as submitted".
func parts(r *wire.Rank) string {
	var b strings.Builder
	for i, p := range r.Parts {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "%d %s", p.Points, p.Name)
		case p.Points < 0:
			fmt.Fprintf(&b, " - %d %s", -p.Points, p.Name)
		default:
			fmt.Fprintf(&b, " + %d %s", p.Points, p.Name)
		}
	}
	return b.String()
}

// rankLine is the priority as submitted, or the rank that is made of it and of more.
func rankLine(j *wire.VJob) string {
	submitted := strconv.Itoa(j.Priority)
	if j.Rank == nil || strconv.FormatInt(j.Rank.Points, 10) == submitted {
		return submitted
	}
	return strings.TrimSuffix(fmt.Sprintf("%d = %s", j.Rank.Points, parts(j.Rank)), " = ")
}
