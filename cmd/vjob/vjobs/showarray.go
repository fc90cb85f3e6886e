package vjobs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// showArray shows what the vjobs of an array share, and a line for each that is meant.
func showArray(ctx context.Context, a *cli.App, c *client.Client, n cli.Named) error {
	rows, err := n.VJobs(ctx, c)
	if err != nil {
		return err
	}
	first, err := c.VJob(ctx, rows[0].ID)
	if err != nil {
		return err
	}
	s, err := resubmission(ctx, c, n, false)
	if err != nil {
		return err
	}
	var b strings.Builder
	facts := [][2]string{
		{"array", strings.TrimSpace(fmt.Sprintf("%d %s", n.ID, cluster.ArrayName(first.Name)))},
		{"owner", first.Owner},
		{"vjobs", display.Members(membersOf(rows))},
		{"queue", first.Queue},
		{"project", first.Project},
		{"pool", first.Pool},
	}
	facts = append(facts, termLines(&first.Terms.Terms)...)
	facts = append(facts, [][2]string{
		{"after", afterLine(first.Terms.After)},
		{"each needs", fmt.Sprintf("%s, %s CPU, %s", cluster.Count(first.VMCount, "VM"), display.CPU(first.CPUMilli), display.MiB(first.MemoryMiB))},
		{"walltime", strings.TrimPrefix(display.Walltime(first.WalltimeSeconds), "-")},
		{"submitted", submittedLine(&first)},
	}...)
	facts = append(facts, submitted(&first, &s)...)
	display.Facts(&b, append(facts, display.Passage("rules", first.Rules)...))
	b.WriteByte('\n')
	if err := arrayTable(rows).Write(&b, a.Width()); err != nil {
		return err
	}
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// membersOf is some vjobs of an array in short.
func membersOf(rows []wire.VJob) *wire.Members {
	m := &wire.Members{First: rows[0].Index, Last: rows[len(rows)-1].Index, States: map[string]int{}}
	for i := range rows {
		m.States[rows[i].State]++
	}
	return m
}

// arrayTable has a line for each vjob of an array.
func arrayTable(rows []wire.VJob) *display.Table {
	t := &display.Table{Heads: display.Heads(">INDEX >VJOB PARAMETER STATE >RAN EXIT WHY")}
	for i := range rows {
		j := &rows[i]
		t.Row(strconv.Itoa(j.Index), strconv.FormatInt(j.ID, 10), display.Dash(j.Parameter), j.State,
			display.Span(display.Seconds(j.RanSeconds)), display.Dash(j.ExitStatus), display.Why(j))
	}
	return t
}
