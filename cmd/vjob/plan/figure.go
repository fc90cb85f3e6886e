package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"vjob/cluster"
	"vjob/internal/chart"
	"vjob/repack"
)

// mostTracks is how many nodes a picture shows.
const mostTracks = 200

// planFigure is the plan as a timetable of the nodes: those that have most to do,
// in their order.
func planFigure(in *repack.Instance, s *searched) *chart.Timetable {
	bars := make([][]chart.Bar, len(in.Nodes))
	for i := range s.result.Plan.Actions {
		drawAction(in, &s.result.Plan.Actions[i], bars)
	}
	busy := make([]int, 0, len(bars))
	for n := range bars {
		if len(bars[n]) > 0 {
			busy = append(busy, n)
		}
	}
	note := fmt.Sprintf("%d of %s: the others have no actions", len(busy), cluster.Count(len(in.Nodes), "node"))
	if len(busy) == len(in.Nodes) {
		note = "all " + cluster.Count(len(busy), "node")
	}
	if len(busy) > mostTracks {
		note = fmt.Sprintf("the %d busiest of %d nodes with actions", mostTracks, len(busy))
		slices.SortStableFunc(busy, func(a, b int) int { return cmp.Compare(len(bars[b]), len(bars[a])) })
		busy = busy[:mostTracks]
		slices.Sort(busy)
	}
	x := &s.figures
	t := &chart.Timetable{
		Title: "plan for " + cmp.Or(in.Name, "an instance"), Note: note, End: instant(x.Makespan),
		Subtitle: fmt.Sprintf("completion %d s, bound %d; makespan %d s; %s", x.Objective, s.result.Bound, int64(x.Makespan), cluster.Count(x.Migrations, "migration")),
	}
	for _, n := range busy {
		label := in.Nodes[n].Name
		if label == "" {
			label = "node " + strconv.Itoa(n)
		}
		t.Tracks = append(t.Tracks, chart.Track{Label: label, Bars: bars[n]})
	}
	return t
}

// drawAction draws an action on the nodes that it concerns. A new share for a VM
// that stays takes no time and is not drawn.
func drawAction(in *repack.Instance, a *repack.Action, bars [][]chart.Bar) {
	if a.Kind == repack.Allocate {
		return
	}
	bar := chart.Bar{Kind: a.Kind.String(), From: instant(a.Start), To: instant(a.End)}
	when := fmt.Sprintf(", %d s to %d s", int64(a.Start), int64(a.End))
	if a.Kind.OnNode() {
		bar.Text = in.NodeName(a.To) + ": " + bar.Kind + when
		bars[a.To] = append(bars[a.To], bar)
		return
	}
	bar.Label = cmp.Or(in.VMs[a.VM].Name, strconv.Itoa(a.VM))
	bar.Text = in.VMName(a.VM) + ": " + bar.Kind
	if a.From != repack.Nowhere {
		bar.Text += " from " + in.NodeName(a.From)
	}
	if arrives(a) && a.To != a.From {
		bar.Text += " to " + in.NodeName(a.To)
	}
	bar.Text += when
	if arrives(a) {
		bars[a.To] = append(bars[a.To], bar)
	}
	if a.From != repack.Nowhere && a.Kind != repack.Resume {
		bar.Leaving = true
		bars[a.From] = append(bars[a.From], bar)
	}
}

// arrives reports whether an action brings a VM to a node.
func arrives(a *repack.Action) bool {
	return a.Kind == repack.Migrate || a.Kind == repack.Boot || a.Kind == repack.Resume
}

// instant is a time of a plan as a duration; a hundred years are for ever.
func instant(t repack.Ticks) time.Duration {
	return time.Duration(min(int64(t), 100*365*24*3600)) * time.Second
}
