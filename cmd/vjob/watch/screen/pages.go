package screen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/vjobs"
	"vjob/energy"
)

// nodeSheet lists the nodes.
func nodeSheet(l *wire.NodeList, width int) sheet {
	bar := min(16, max(3, (width-64)/5))
	columns, rows := list(nodeFields(bar), l.Nodes, func(n *wire.Node, r *row) {
		r.key, r.open = n.Name, &Query{Kind: OneNode, Node: n.Name}
	})
	return sheet{title: "nodes", summary: nodeSummary(l), columns: columns, rows: rows}
}

func nodeFields(bar int) []field[wire.Node] {
	used := func(head string, drop int, used, of func(*wire.Node) int64, text func(int64) string) field[wire.Node] {
		share := func(n *wire.Node) float64 {
			if of(n) == 0 {
				return 0
			}
			return float64(used(n)) / float64(of(n))
		}
		return field[wire.Node]{
			Field: display.Field[wire.Node]{Head: head, Cell: func(n *wire.Node) any {
				return display.Shown{Text: display.Gauge(share(n), bar) + " " + text(used(n)) + " of " + text(of(n)), Value: display.Share(share(n))}
			}},
			drop:   drop,
			colour: func(n *wire.Node) string { return loadColour(share(n)) },
		}
	}
	return []field[wire.Node]{
		{Field: display.Field[wire.Node]{Head: "NODE", Cell: func(n *wire.Node) any { return n.Name }}},
		{Field: display.Field[wire.Node]{Head: "STATE", Cell: func(n *wire.Node) any { return display.NodeState(n) }}},
		used("CPU", 0, func(n *wire.Node) int64 { return n.UsedCPUMilli }, func(n *wire.Node) int64 { return n.CPUMilli }, display.CPU),
		used("MEMORY", 2, func(n *wire.Node) int64 { return n.UsedMemoryMiB }, func(n *wire.Node) int64 { return n.MemoryMiB }, display.MiB),
		{Field: display.Field[wire.Node]{Head: ">VMS", Cell: func(n *wire.Node) any { return len(n.VMs) }}, drop: 1},
		{Field: display.Field[wire.Node]{Head: ">POWER", If: func(n *wire.Node) bool { return n.Power != nil }, Cell: func(n *wire.Node) any {
			if n.Power == nil {
				return nil
			}
			return energy.Watts(n.Power.Watts)
		}}, drop: 3},
		{Field: display.Field[wire.Node]{Head: "PROBLEM", Cell: func(n *wire.Node) any {
			problem := display.NodeProblem(n)
			return display.Shown{Text: problem, Value: strings.TrimPrefix(problem, "-")}
		}}},
	}
}

func loadColour(share float64) string {
	switch {
	case share > 1:
		return display.Red
	case share > 0.85:
		return display.Yellow
	}
	return display.Green
}

func nodeSummary(l *wire.NodeList) string {
	states := map[string]int{}
	var cpu, ofCPU, memory, ofMemory int64
	for i := range l.Nodes {
		n := &l.Nodes[i]
		states[display.NodeState(n)]++
		cpu, ofCPU = cpu+n.UsedCPUMilli, ofCPU+n.CPUMilli
		memory, ofMemory = memory+n.UsedMemoryMiB, ofMemory+n.MemoryMiB
	}
	text := fmt.Sprintf("%s, %s of %s CPU, %s of %s", counted(states), display.CPU(cpu), display.CPU(ofCPU), display.MiB(memory), display.MiB(ofMemory))
	if l.Failover != nil && !l.Failover.Holds {
		text = "the loss of a node cannot be made up for; " + text
	}
	return text
}

// counted lists how many are in each state: "1 silent, 12 online".
func counted(states map[string]int) string {
	names := slices.Sorted(maps.Keys(states))
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", states[name], display.Clean(name))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// vjobDrops are the columns of vjobs that give way on narrow terminals, the last ones first.
var vjobDrops = []string{"state", "ran", "vms", "name", "cpu", "owner", "memory", "walltime", "priority"}

// vjobSheet lists vjobs; each array is one row.
func vjobSheet(q Query, l *wire.VJobList) sheet {
	states := map[string]int{}
	things := make([]wire.VJob, len(l.VJobs))
	for i := range l.VJobs {
		things[i] = l.VJobs[i]
		if m := things[i].Members; m != nil {
			for state, n := range m.States {
				states[state] += n
			}
			things[i] = vjobs.Folded(&things[i])
			continue
		}
		states[things[i].State]++
	}
	var fields []field[wire.VJob]
	for _, f := range vjobs.Columns() {
		if f.Level <= display.Roomy {
			fields = append(fields, field[wire.VJob]{Field: f, drop: max(0, slices.Index(vjobDrops, f.Name())-1)})
		}
	}
	columns, rows := list(fields, things, func(j *wire.VJob, r *row) {
		r.key, r.open = strconv.FormatInt(j.ID, 10), &Query{Kind: OneVJob, ID: j.ID}
		if j.Members != nil {
			r.key, r.open = r.key+"[]", &Query{Kind: VJobs, ID: j.ID}
		}
	})
	title, summary := "vjobs", counted(states)
	if q.ID != 0 {
		title = fmt.Sprintf("array %d", q.ID)
	}
	if l.Total > len(l.VJobs) {
		summary += fmt.Sprintf("; the first %d of %d, / finds others", len(l.VJobs), l.Total)
	}
	return sheet{title: title, summary: summary, columns: columns, rows: rows}
}

// planDrops are the columns of plans that give way, the last ones first.
var planDrops = []string{"state", "actions", "took", "estimated", "cost", "ratio", "policy"}

// planSheet lists the context switches.
func planSheet(l *wire.PlanList) sheet {
	var fields []field[wire.Plan]
	for _, f := range display.PlanFields {
		if f.Level <= display.Roomy {
			fields = append(fields, field[wire.Plan]{Field: f, drop: max(0, slices.Index(planDrops, f.Name()))})
		}
	}
	columns, rows := list(fields, l.Plans, func(p *wire.Plan, r *row) {
		r.key, r.open = strconv.FormatInt(p.ID, 10), &Query{Kind: OnePlan, ID: p.ID}
	})
	return sheet{title: "plans", summary: "the latest " + strconv.Itoa(len(rows)), columns: columns, rows: rows}
}

// eventSheet lists the events, oldest first.
func eventSheet(events []wire.Event) sheet {
	fields := []field[wire.Event]{
		{Field: display.Field[wire.Event]{Head: "TIME", Cell: func(e *wire.Event) any {
			return display.Shown{Text: e.At.Local().Format("15:04:05"), Value: e.Seq}
		}}},
		{Field: display.Field[wire.Event]{Head: "KIND", Cell: func(e *wire.Event) any { return e.Kind }}},
		{Field: display.Field[wire.Event]{Head: "TEXT", Cell: func(e *wire.Event) any { return display.Event(e) }}},
	}
	columns, rows := list(fields, events, func(e *wire.Event, r *row) {
		r.key = strconv.FormatInt(e.Seq, 10)
		r.title, r.text = "event "+r.key, func(width int) []row { return eventRows(e, width) }
	})
	return sheet{title: "events", summary: "the latest " + strconv.Itoa(len(rows)), columns: columns, rows: rows}
}

// eventRows is one event in full, and what it is about.
func eventRows(e *wire.Event, width int) []row {
	rows := facts([][2]string{{"event", strconv.FormatInt(e.Seq, 10)}, {"time", display.Moment(&e.At)}, {"kind", e.Kind}, {"state", e.State}, {"text", e.Text}}, width)
	link := func(text string, q Query) {
		r := plain("link "+text, "→ "+text)
		r.open = &q
		rows = append(rows, r)
	}
	rows = append(rows, plain("", ""))
	if e.VJob != 0 {
		link(fmt.Sprintf("vjob %d", e.VJob), Query{Kind: OneVJob, ID: e.VJob})
	}
	if e.Plan != 0 {
		link(fmt.Sprintf("plan %d", e.Plan), Query{Kind: OnePlan, ID: e.Plan})
	}
	if e.Node != "" {
		link("node "+e.Node, Query{Kind: OneNode, Node: e.Node})
	}
	return rows
}

// alarmSheet lists the open alarms.
func alarmSheet(l *wire.AlarmList) sheet {
	acknowledged := 0
	fields := []field[wire.Alarm]{
		{Field: display.Field[wire.Alarm]{Head: "SINCE", Cell: func(a *wire.Alarm) any { return a.Since }}, drop: 2},
		{Field: display.Field[wire.Alarm]{Head: "ALARM", Cell: func(a *wire.Alarm) any { return a.Kind }}, colour: alarmColour},
		{Field: display.Field[wire.Alarm]{Head: "ABOUT", Cell: func(a *wire.Alarm) any { return a.Object }}, drop: 1},
		{Field: display.Field[wire.Alarm]{Head: "ACK", Cell: func(a *wire.Alarm) any { return a.AckedBy }}, drop: 3},
		{Field: display.Field[wire.Alarm]{Head: "NEXT", Cell: func(a *wire.Alarm) any { return a.Next }}},
	}
	columns, rows := list(fields, l.Alarms, func(a *wire.Alarm, r *row) {
		if a.AckedBy != "" {
			acknowledged++
		}
		r.key = strconv.FormatInt(a.ID, 10)
		r.title, r.text = "alarm "+r.key, func(width int) []row { return alarmRows(a, width) }
	})
	summary := cluster.Count(len(rows), "open alarm")
	if acknowledged > 0 {
		summary += fmt.Sprintf(", %d acknowledged", acknowledged)
	}
	return sheet{title: "alarms", summary: summary, columns: columns, rows: rows}
}

func alarmColour(a *wire.Alarm) string {
	if a.AckedBy != "" {
		return display.Grey
	}
	return display.Red
}

// alarmRows is one alarm, what to do about it, and what it is about.
func alarmRows(a *wire.Alarm, width int) []row {
	rows := facts(append([][2]string{{"alarm", strconv.FormatInt(a.ID, 10) + " " + a.Kind}, {"about", a.Object}}, display.AlarmFacts(a)...), width)
	if a.AckedBy == "" {
		rows = append(rows, plain("", ""))
		rows = append(rows, paragraphs([]string{fmt.Sprintf("vjob alarms ack %d tells other administrators that it is taken care of", a.ID)}, width)...)
	}
	for _, q := range []Query{{Kind: OneVJob, ID: a.VJob}, {Kind: OneNode, Node: a.Node}} {
		if q.ID != 0 || q.Node != "" {
			r := plain("link "+emptyTitle(q), "→ "+emptyTitle(q))
			r.open = &q
			rows = append(rows, r)
		}
	}
	return rows
}
