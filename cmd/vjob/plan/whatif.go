package plan

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy"
	"vjob/internal/chart"
)

// whatIfFlags are the flags of `vjob plan --what-if`.
type whatIfFlags struct {
	on                  bool
	add, demand         []string
	pools               string
	drain, lose, online []string
	off                 []string
	without             []string
	submit, rules       string
	budget              string
	place               string
	alternatives        int
}

// readQuestion reads what is supposed.
func readQuestion(ctx context.Context, a *cli.App, f *whatIfFlags) (w wire.WhatIf, err error) {
	w = wire.WhatIf{Drain: f.drain, Off: f.off, Lose: f.lose, Online: f.online}
	if err := f.readChanges(a, &w); err != nil {
		return w, err
	}
	if f.rules != "" {
		data, err := a.ReadInput(f.rules)
		if err != nil {
			return w, cluster.BadField("--rules", f.rules, "a file with rules: "+err.Error())
		}
		text := string(data)
		w.Rules = &text
	}
	if f.budget != "" {
		power, err := energy.ParseWatts(f.budget)
		if err != nil {
			return w, cluster.Renamed("--budget", err)
		}
		most := float64(power)
		w.BudgetWatts = &most
	}
	if f.submit != "" {
		if w.Submit, err = readSubmission(ctx, a, "--submit", f.submit); err != nil {
			return w, err
		}
	}
	if err := f.readPlace(ctx, a, &w); err != nil {
		return w, err
	}
	nodes := len(w.Add) + len(w.Drain) + len(w.Off) + len(w.Lose) + len(w.Online)
	if nodes+len(w.Demand)+len(f.without) == 0 && w.Pools == nil && w.Place == nil && w.Rules == nil && w.Submit == nil && w.BudgetWatts == nil {
		return w, cluster.Fault("--what-if", "requires --add, --drain, --off, --lose, --online, --demand, --pools, --without, --rules, --budget, --submit or --place")
	}
	return w, nil
}

// whatIf asks the daemon what would be decided if things were otherwise.
func whatIf(ctx context.Context, a *cli.App, f *planFlags) error {
	if f.in != "" || f.out != "" {
		return cluster.Fault("--what-if", "excludes --in and --out: it asks the daemon")
	}
	svg, err := cli.Writable("--svg", f.svg, "")
	if err != nil {
		return err
	}
	body, err := readQuestion(ctx, a, &f.whatIf)
	if err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	for _, nodes := range []struct {
		flag  string
		names *[]string
	}{{"--drain", &body.Drain}, {"--off", &body.Off}, {"--lose", &body.Lose}, {"--online", &body.Online}} {
		if *nodes.names, err = cli.ResolveNodes(ctx, c, nodes.flag, *nodes.names); err != nil {
			return err
		}
	}
	for _, word := range f.whatIf.without {
		body.Without = append(body.Without, wire.VJobName(word))
	}
	result, err := c.WhatIf(ctx, body)
	if err != nil {
		return err
	}
	err = svg.Write(func(w io.Writer) error { return chart.WriteTimetable(w, switchFigure(&result)) })
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(result)
	}
	return showWhatIf(a, &result)
}

func showWhatIf(a *cli.App, f *wire.WhatIfResult) error {
	var b strings.Builder
	plan := "none is needed"
	if n := len(f.Plan.Actions); n > 0 {
		plan = fmt.Sprintf("%s, cost %s, estimated %s", cluster.Count(n, "action"), display.MiB(f.Plan.CostMiB), display.Span(display.Seconds(f.Plan.MakespanSeconds)))
	} else if f.Why != "" {
		plan = "none: " + f.Why
	}
	list := [][2]string{{"nodes", cluster.Count(f.Nodes, "node") + " would take VMs"}, {"switch", plan}}
	list = append(list, display.Passage("broken", strings.Join(f.Broken, "\n"))...)
	list = append(list, display.Passage("stays broken", strings.Join(f.Leaves, "\n"))...)
	list = append(list, display.Passage("dropped", strings.Join(f.Dropped, "\n"))...)
	for _, node := range slices.Sorted(maps.Keys(f.Undrained)) {
		list = append(list, display.Passage("node "+node, f.Undrained[node])...)
	}
	display.Facts(&b, list)
	b.WriteByte('\n')
	if f.Before != nil && f.After != nil {
		if err := figuresTable(f.Before, f.After, a.Now()).Write(&b, a.Width()); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	if len(f.VJobs) == 0 {
		b.WriteString("every vjob would fare as it does now\n")
	} else if err := whatIfTable(f.VJobs, a.Now()).Write(&b, a.Width()); err != nil {
		return err
	}
	if len(f.Plan.Actions) > 0 {
		b.WriteByte('\n')
		if err := stepTable(f.Plan.Actions).Write(&b, a.Width()); err != nil {
			return err
		}
	}
	if err := showPlacements(a, &b, f); err != nil {
		return err
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// targets are the words for the targets of vjobs.
var targets = map[string]string{"run": "runs", "wait": "waits", "suspend": "suspended", "pause": "suspended in memory"}

func whatIfTable(vjobs []wire.WhatIfVJob, at time.Time) *display.Table {
	t := &display.Table{Heads: display.Heads(">VJOB NAME OWNER >VMS NOW THEN WHY")}
	for i := range vjobs {
		x := &vjobs[i]
		id := strconv.FormatInt(x.ID, 10)
		if x.ID == 0 {
			id = "new"
		}
		t.Row(id, display.Dash(x.Name), x.Owner, strconv.Itoa(x.VMCount), display.Dash(outcome(x.Now, x.NowStart, at)), outcome(x.Then, x.ThenStart, at), display.Reason(x.Reason))
	}
	return t
}

// outcome is a target in words, with the estimated start of a vjob that waits.
func outcome(target string, start *time.Time, at time.Time) string {
	if start == nil || target == "run" {
		return targets[target]
	}
	return targets[target] + " until " + cluster.Clock(*start, at)
}

// stepTable lists the actions of a plan that has not begun.
func stepTable(actions []wire.Action) *display.Table {
	t := &display.Table{Heads: display.Heads(display.ActionHeads)}
	for _, action := range actions {
		if rank, supposed := strings.CutPrefix(action.VM, "0."); supposed {
			action.VM = "new." + rank
		}
		t.Row(display.ActionCells(&action)...)
	}
	return t
}

// switchFigure is the context switch as a timetable of the nodes.
func switchFigure(f *wire.WhatIfResult) *chart.Timetable {
	t := &chart.Timetable{
		Title: "what would happen", Note: cluster.Count(len(f.VJobs), "vjob") + " would fare otherwise than now", End: display.Seconds(f.Plan.MakespanSeconds),
		Subtitle: fmt.Sprintf("%s, cost %s, estimated %s", cluster.Count(len(f.Plan.Actions), "action"), display.MiB(f.Plan.CostMiB), display.Span(display.Seconds(f.Plan.MakespanSeconds))),
	}
	at := map[string]int{}
	bar := func(node string, b chart.Bar) {
		i, known := at[node]
		if !known {
			i = len(t.Tracks)
			at[node] = i
			t.Tracks = append(t.Tracks, chart.Track{Label: node})
		}
		t.Tracks[i].Bars = append(t.Tracks[i].Bars, b)
	}
	for i := range f.Plan.Actions {
		x := &f.Plan.Actions[i]
		b := chart.Bar{
			Kind: cmp.Or(map[string]string{cluster.Stop.String(): "shutdown"}[x.Kind], x.Kind),
			From: display.Seconds(x.StartSec), To: display.Seconds(x.EndSec), Label: x.VM,
			Text: fmt.Sprintf("%s %s, %s to %s", x.Kind, x.VM, display.Span(display.Seconds(x.StartSec)), display.Span(display.Seconds(x.EndSec))),
		}
		if x.To != "" {
			bar(x.To, b)
		}
		if x.From != "" && x.Kind != cluster.Resume.String() {
			b.Leaving = true
			bar(x.From, b)
		}
	}
	t.End = max(t.End, time.Second)
	return t
}
