package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/chart"
	"vjob/cluster"
	"vjob/energy"
)

// whatIfFlags are the flags of `vjob plan --what-if`.
type whatIfFlags struct {
	on                  bool
	drain, lose, online []string
	without             []int64
	submit, rules       string
	budget              string
}

// supposition reads what is supposed.
func (a *app) supposition(f *whatIfFlags) (w wire.WhatIf, err error) {
	w = wire.WhatIf{Drain: f.drain, Lose: f.lose, Online: f.online, Without: f.without}
	if f.rules != "" {
		data, err := a.readInput(f.rules)
		if err != nil {
			return w, cluster.BadField("--rules", f.rules, "a file with rules: "+err.Error())
		}
		text := string(data)
		w.Rules = &text
	}
	if f.budget != "" {
		power, err := energy.ParseWatts(f.budget)
		if err != nil {
			return w, renamed(err, "--budget")
		}
		most := float64(power)
		w.BudgetWatts = &most
	}
	if f.submit != "" {
		data, err := a.readInput(f.submit)
		if err != nil {
			return w, cluster.BadField("--submit", f.submit, "a vjob file: "+err.Error())
		}
		s, err := parseVJobFile(f.submit, data)
		if err != nil {
			return w, err
		}
		w.Submit = &s
	}
	if len(w.Drain)+len(w.Lose)+len(w.Online)+len(w.Without) == 0 && w.Rules == nil && w.Submit == nil && w.BudgetWatts == nil {
		return w, cluster.BadField("--what-if", "", "what is supposed beside it: --drain, --lose, --online, --without, --rules, --budget or --submit")
	}
	return w, nil
}

// whatIf asks the daemon what would be decided if things were otherwise.
func (a *app) whatIf(ctx context.Context, f *planFlags) error {
	if f.in != "" || f.out != "" {
		return cluster.BadField("--what-if", "", "it without --in and --out: the daemon is asked, and no file")
	}
	svg, err := writable("--svg", f.svg, "")
	if err != nil {
		return err
	}
	body, err := a.supposition(&f.whatIf)
	if err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	forecast, err := c.WhatIf(ctx, body)
	if err != nil {
		return err
	}
	err = svg.write(func(w io.Writer) error { return chart.WriteTimetable(w, forecastFigure(&forecast)) })
	if err != nil {
		return err
	}
	if a.json() {
		return printJSON(a.out, forecast, true)
	}
	return a.showForecast(&forecast)
}

func (a *app) showForecast(f *wire.Forecast) error {
	var b strings.Builder
	plan := "none is needed"
	if n := len(f.Plan.Actions); n > 0 {
		plan = fmt.Sprintf("%s, cost %s, estimated %s", count(n, "action"), mib(f.Plan.CostMiB), span(seconds(f.Plan.MakespanSeconds)))
	} else if f.Why != "" {
		plan = "none: " + f.Why
	}
	list := [][2]string{{"nodes", count(f.Nodes, "node") + " would take VMs"}, {"switch", plan}}
	list = append(list, passage("broken", strings.Join(f.Broken, "\n"))...)
	facts(&b, append(list, passage("stays broken", strings.Join(f.Leaves, "\n"))...))
	b.WriteByte('\n')
	if len(f.VJobs) == 0 {
		b.WriteString("every vjob would fare as it does now\n")
	} else if err := lotTable(f.VJobs).write(&b, a.width()); err != nil {
		return err
	}
	if len(f.Plan.Actions) > 0 {
		b.WriteByte('\n')
		if err := stepTable(f.Plan.Actions).write(&b, a.width()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// wishes are the words for what is wanted of a vjob.
var wishes = map[string]string{"run": "runs", "stay": "waits", "park": "suspended", "pause": "suspended in memory"}

func lotTable(lots []wire.Lot) *table {
	t := &table{heads: heads(">VJOB NAME OWNER >VMS NOW THEN WHY")}
	for i := range lots {
		x := &lots[i]
		id := strconv.FormatInt(x.ID, 10)
		if x.ID == 0 {
			id = "new"
		}
		t.row(id, dash(x.Name), x.Owner, strconv.Itoa(x.VMCount), dash(wishes[x.Now]), wishes[x.Then], x.Reason)
	}
	return t
}

// stepTable is the actions of a plan that nobody has begun.
func stepTable(actions []wire.Action) *table {
	t := &table{heads: heads(actionHeads)}
	for i := range actions {
		t.row(actionCells(&actions[i])...)
	}
	return t
}

// forecastFigure is the context switch as a timetable of the nodes.
func forecastFigure(f *wire.Forecast) *chart.Timetable {
	t := &chart.Timetable{
		Title: "what would happen", Note: count(len(f.VJobs), "vjob") + " would fare otherwise than now", End: seconds(f.Plan.MakespanSeconds),
		Subtitle: fmt.Sprintf("%s, cost %s, estimated %s", count(len(f.Plan.Actions), "action"), mib(f.Plan.CostMiB), span(seconds(f.Plan.MakespanSeconds))),
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
			From: seconds(x.StartSec), To: seconds(x.EndSec), Label: x.VM,
			Text: fmt.Sprintf("%s %s, %s to %s", x.Kind, x.VM, span(seconds(x.StartSec)), span(seconds(x.EndSec))),
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
