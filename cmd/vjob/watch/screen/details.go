package screen

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/vjobs"
)

// oneVJobSheet is what `vjob show` prints; its VMs open their output.
func oneVJobSheet(v *VJobShown, width int) sheet {
	j := &v.Detail
	text := vjobs.Describe(j, &v.Submission, width, nil)
	rows := paragraphs(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), width)
	ranks := map[string]int{}
	for rank := range j.VMs {
		ranks[j.VMs[rank].ID] = rank
	}
	for i := range rows {
		word, _, _ := strings.Cut(rows[i].cells[0].text, " ")
		if rank, is := ranks[word]; is {
			rows[i].open = &Query{Kind: Output, ID: j.ID, Rank: rank}
		}
	}
	return sheet{title: fmt.Sprintf("vjob %d %s", j.ID, display.Clean(j.Name)), summary: display.Clean(j.State), rows: rows}
}

// outputSheet is what a VM has printed.
func outputSheet(q Query, o *OutputShown) sheet {
	s := sheet{title: emptyTitle(q), summary: fmt.Sprintf("VM %d of %d", q.Rank+1, o.VMs)}
	if o.VMs == 1 {
		s.summary = "its only VM"
	}
	text := strings.TrimSuffix(strings.ReplaceAll(o.Text, "\r\n", "\n"), "\n")
	if text == "" {
		s.rows = []row{plain("", "nothing was printed yet")}
		return s
	}
	for i, line := range strings.Split(text, "\n") {
		s.rows = append(s.rows, plain(strconv.Itoa(i), strings.ReplaceAll(line, "\t", "    ")))
	}
	return s
}

// oneNodeSheet is a node and its VMs, with the vjobs to which they belong.
func oneNodeSheet(v *NodeShown, width int) sheet {
	n := &v.Node
	power := ""
	if n.Power != nil {
		power = fmt.Sprintf("%s, at most %s", display.Watts(n.Power.Watts), display.Watts(n.Power.MostWatts))
	}
	rows := facts([][2]string{
		{"node", n.Name},
		{"state", display.NodeState(&n.Node)},
		{"problem", strings.TrimPrefix(display.NodeProblem(&n.Node), "-")},
		{"cpu", fmt.Sprintf("%s of %s, its VMs demand %s", display.CPU(n.UsedCPUMilli), display.CPU(n.CPUMilli), display.CPU(n.DemandCPUMilli))},
		{"memory", fmt.Sprintf("%s of %s", display.MiB(n.UsedMemoryMiB), display.MiB(n.MemoryMiB))},
		{"power", power},
		{"labels", display.Labels(n.Labels)},
	}, width)
	rows = append(rows, plain("", ""))
	jobs := make(map[int64]*wire.VJob, len(v.VJobs))
	for i := range v.VJobs {
		jobs[v.VJobs[i].ID] = &v.VJobs[i]
	}
	t := &display.Table{Heads: display.Heads("VM VJOB OWNER STATE >RAN")}
	links := make([]*Query, len(n.VMs))
	for i, vm := range n.VMs {
		t.Row(append([]string{vm}, "-", "-", "-", "-")...)
		number, _, _ := strings.Cut(vm, ".")
		id, _ := strconv.ParseInt(number, 10, 64)
		if j := jobs[id]; j != nil {
			t.Rows[i] = []string{vm, display.Clean(display.Dash(j.Name)), display.Clean(j.Owner), display.Clean(j.State), display.Span(display.Seconds(j.RanSeconds))}
			links[i] = &Query{Kind: OneVJob, ID: id}
		}
	}
	return sheet{title: "node " + display.Clean(n.Name), summary: cluster.Count(len(n.VMs), "VM"), rows: append(rows, tableRows(t, "vm ", links)...)}
}

// tableRows are the lines of a table: its head, and its rows with what they open.
func tableRows(t *display.Table, prefix string, links []*Query) []row {
	if len(t.Rows) == 0 {
		return nil
	}
	var b strings.Builder
	_ = t.Write(&b, 0) // a builder takes everything
	var rows []row
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		r := row{key: prefix + strconv.Itoa(i), cells: []cell{{text: line, colour: display.Bold}}}
		if i > 0 {
			r.key, r.open, r.cells[0].colour = prefix+t.Rows[i-1][0], links[i-1], ""
		}
		rows = append(rows, r)
	}
	return rows
}

// onePlanSheet is a context switch: why it does what it does, and how far its actions are.
func onePlanSheet(p *wire.Plan, width int, now time.Time) sheet {
	estimate := display.Seconds(p.MakespanSeconds)
	progress := display.Progress(now.Sub(p.Began), estimate)
	if p.Ended != nil {
		progress = fmt.Sprintf("took %s, estimated %s", display.Took(p), display.Span(estimate))
	}
	rows := facts([][2]string{
		{"plan", strconv.FormatInt(p.ID, 10)},
		{"state", p.State},
		{"time", progress},
		{"began", display.Moment(&p.Began)},
		{"cost", display.MiB(p.CostMiB)},
		{"note", p.Note},
	}, width)
	rows = append(rows, actionRows(p, width, now)...)
	if len(p.Gangs) > 0 {
		rows = append(rows, plain("", ""), row{key: "vjobs", cells: []cell{{text: "VJOBS", colour: display.Bold}}})
	}
	for _, g := range p.Gangs {
		wrapped := paragraphs([]string{strings.TrimRight(fmt.Sprintf("%d  %s  %s", g.VJob, g.Kind, g.Why), " ")}, width)
		for i := range wrapped {
			wrapped[i].key = fmt.Sprintf("vjob %d/%d", g.VJob, i)
			wrapped[i].open = &Query{Kind: OneVJob, ID: g.VJob}
		}
		rows = append(rows, wrapped...)
	}
	return sheet{title: fmt.Sprintf("plan %d", p.ID), summary: planSummary(p), rows: rows}
}

// planSummary counts the actions of a plan by their state.
func planSummary(p *wire.Plan) string {
	states := map[string]int{}
	for i := range p.Actions {
		states[p.Actions[i].State]++
	}
	if len(states) == 0 {
		return cluster.Count(p.ActionCount, "action")
	}
	return cluster.Count(len(p.Actions), "action") + ": " + counted(states)
}

// actionRows are the actions of a plan, each with a bar once it has begun.
func actionRows(p *wire.Plan, width int, now time.Time) []row {
	if len(p.Actions) == 0 {
		return nil
	}
	bar := max(4, min(30, (width-60)/3))
	t := &display.Table{Heads: display.Heads(">ACTION WHAT VM WHERE STATE PROGRESS")}
	links := make([]*Query, len(p.Actions))
	for i := range p.Actions {
		x := &p.Actions[i]
		where := display.Dash(x.From)
		if x.To != "" && x.To != x.From {
			where = strings.TrimPrefix(where+"→"+x.To, "-→")
		}
		t.Row(strconv.Itoa(x.ID), x.Kind, x.VM, where, x.State, actionProgress(x, bar, p, now))
		number, _, _ := strings.Cut(x.VM, ".")
		if id, err := strconv.ParseInt(number, 10, 64); err == nil && id > 0 {
			links[i] = &Query{Kind: OneVJob, ID: id}
		}
	}
	rows := tableRows(t, "action ", links)
	for i := range p.Actions {
		rows[i+1].cells[0].colour = display.ColourOf[p.Actions[i].State]
		if x := &p.Actions[i]; late(x, now) {
			rows[i+1].cells[0].colour = display.Yellow
		}
	}
	return append([]row{plain("", "")}, rows...)
}

// late reports whether an action takes half as long again as estimated.
func late(x *wire.Action, now time.Time) bool {
	return x.Began != nil && x.Ended == nil && now.Sub(*x.Began).Seconds() > 1.5*(x.EndSec-x.StartSec)
}

// actionProgress is a bar and a text: how far an action is, how long it took, or for what it waits.
func actionProgress(x *wire.Action, bar int, p *wire.Plan, now time.Time) string {
	estimate := display.Seconds(x.EndSec - x.StartSec)
	text := ""
	switch {
	case x.Began == nil && p.Ended == nil && len(x.After) > 0:
		after := make([]string, len(x.After))
		for i, id := range x.After {
			after[i] = strconv.Itoa(id)
		}
		text = display.Gauge(0, bar) + " after " + strings.Join(after, ", ")
	case x.Began == nil:
		text = display.Gauge(0, bar) + " not begun"
	case x.Ended == nil:
		elapsed := now.Sub(*x.Began)
		text = display.ProgressGauge(elapsed, estimate, bar) + " " + display.Progress(elapsed, estimate)
	default:
		text = fmt.Sprintf("%s %s, estimated %s", display.Gauge(1, bar), display.Span(x.Ended.Sub(*x.Began)), display.Span(estimate))
	}
	if x.Note != "" {
		text += "; " + x.Note
	}
	return text
}
