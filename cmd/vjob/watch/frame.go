package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// Draw is one picture of the cluster, in black and white: the same values give the same text.
// No line is wider than width, and there are at most height lines; 0 is as many as needed.
func Draw(width, height int, status wire.Status, events []wire.Event) string {
	f := frame{width: width, height: height}
	return f.draw(&scene{status: status, events: events})
}

// frame draws one picture.
type frame struct {
	width   int
	height  int // 0 is as high as needed
	colours bool
	live    bool   // drawn again and again, until a key is pressed
	trouble string // what the last look failed with
	lines   []string
}

// draw returns the lines of the picture.
func (f *frame) draw(s *scene) string {
	f.lines = nil
	f.title(s)
	room := f.share(s)
	f.nodes(s.status.Nodes, room.nodes)
	f.vjobs(s.status.VJobs, room.vjobs)
	f.actions(&s.status, room.actions)
	f.events(s.events, room.events)
	return strings.Join(f.lines, "\n") + "\n"
}

// room is how many lines each part may take.
type room struct{ nodes, vjobs, actions, events int }

// share divides the height: what is short gets all it wants, the rest is divided.
func (f *frame) share(s *scene) room {
	rows := (len(s.status.Nodes) + f.nodeColumns() - 1) / f.nodeColumns()
	want := room{rows, len(s.status.VJobs), len(s.status.Running), min(len(s.events), 8)}
	if f.height <= 0 {
		return want
	}
	heads := 1 + 4*2 + 3 // the title, those of the parts, and three lines of "more"
	if f.trouble != "" {
		heads++
	}
	left := max(4, f.height-heads)
	got := room{}
	parts := []struct{ want, got *int }{
		{&want.actions, &got.actions}, {&want.events, &got.events}, {&want.nodes, &got.nodes}, {&want.vjobs, &got.vjobs},
	}
	slices.SortStableFunc(parts, func(a, b struct{ want, got *int }) int { return cmp.Compare(*a.want, *b.want) })
	for i, p := range parts {
		*p.got = min(*p.want, max(1, left/(len(parts)-i)))
		left -= *p.got
	}
	return got
}

func (f *frame) title(s *scene) {
	counts := map[string]int{}
	for i := range s.status.VJobs {
		counts[s.status.VJobs[i].State]++
	}
	parts := []string{"policy " + display.Dash(display.Clean(s.status.Policy))}
	for _, state := range []string{"running", "waiting", "paused", "suspended"} {
		if counts[state] > 0 || state != "paused" {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	if o := s.status.Failover; o != nil && !o.Holds {
		parts = append(parts, "nodes cannot be lost")
	}
	if n := s.status.Alarms; n != nil && *n > 0 {
		parts = append(parts, cluster.Count(*n, "alarm"))
	}
	if !s.status.Ready {
		parts = append(parts, "not ready: looking at the nodes")
	}
	left, right := "vjob  "+strings.Join(parts, " · "), s.status.At.Local().Format("15:04:05")
	if f.live && f.width >= 72 {
		right = "q ends · " + right
	}
	gap := max(1, f.width-runewidth.StringWidth(left)-runewidth.StringWidth(right))
	f.add(f.paint(display.Bold, f.cut(left+strings.Repeat(" ", gap)+right)))
	if f.trouble != "" {
		f.add(f.paint(display.Red, f.cut("no answer: "+display.Clean(f.trouble))))
	}
}

// section begins a part of the picture.
func (f *frame) section(title string) {
	f.add("")
	f.add(f.paint(display.Bold, f.cut(title)))
}

func (f *frame) add(line string) { f.lines = append(f.lines, line) }

func (f *frame) cut(s string) string { return runewidth.Truncate(s, f.width, "…") }

func (f *frame) paint(colour, s string) string {
	if !f.colours {
		return s
	}
	return display.Coloured(colour, s)
}

// cell is text of exactly a width.
func cell(s string, width int) string {
	return runewidth.FillRight(runewidth.Truncate(s, width, "…"), width)
}

// nodeWidth is the least width of one node.
const nodeWidth = 76

func (f *frame) nodeColumns() int { return max(1, f.width/nodeWidth) }

func (f *frame) nodes(nodes []wire.Node, rows int) {
	f.section("NODES")
	columns := f.nodeColumns()
	shown := min(len(nodes), rows*columns)
	for r := range (shown + columns - 1) / columns {
		var line strings.Builder
		for c := range columns {
			i := c*((shown+columns-1)/columns) + r
			if i < shown {
				line.WriteString(f.node(&nodes[i], f.width/columns))
			}
		}
		f.add(strings.TrimRight(line.String(), " "))
	}
	f.more(len(nodes)-shown, "node")
}

// node is one node: name, state, bars of CPU and memory, VMs.
func (f *frame) node(n *wire.Node, width int) string {
	bar := min(16, max(6, (width-56)/2))
	used := func(used, of int64, text string, textWidth int) string {
		share := 0.0
		if of > 0 {
			share = float64(used) / float64(of)
		}
		colour := display.Green
		if share > 1 {
			colour = display.Red
		} else if share > 0.85 {
			colour = display.Yellow
		}
		return f.paint(colour, display.Gauge(share, bar)) + " " + cell(text, textWidth)
	}
	state := display.NodeState(n)
	head := cell(display.Clean(n.Name), 8) + " " + f.paint(display.ColourOf[state], cell(state, 8)) + " "
	cpus := used(n.UsedCPUMilli, n.CPUMilli, display.CPU(n.UsedCPUMilli)+"/"+display.CPU(n.CPUMilli)+" CPU", 11)
	memory := used(n.UsedMemoryMiB, n.MemoryMiB, gib(n.UsedMemoryMiB)+"/"+gib(n.MemoryMiB)+" GiB", 14)
	taken := 18 + bar + 12 + bar + 15 + 1
	vms := display.Clean(strings.Join(n.VMs, " "))
	if n.Silent {
		vms = "! " + display.Clean(n.Problem)
	}
	return head + cpus + memory + " " + cell(vms, max(4, width-taken-1)) + " "
}

// gib prints MiB as GiB without the unit.
func gib(n int64) string {
	return strconv.FormatFloat(float64(int(float64(n)/float64(cluster.GiB)*10+0.5))/10, 'f', -1, 64)
}

func (f *frame) vjobs(jobs []wire.VJob, rows int) {
	f.section("VJOBS")
	for i := range min(len(jobs), rows) {
		j := &jobs[i]
		head := fmt.Sprintf("%6d ", j.ID) + cell(display.Clean(j.Name), 14) + " "
		state := f.paint(display.ColourOf[j.State], cell(display.Clean(j.State), 11))
		rest := fmt.Sprintf("%3d VMs %7s  ", j.VMCount, display.Span(display.Seconds(j.RanSeconds)))
		f.add(head + state + f.fit(rest+display.Clean(display.Why(j)), 33))
	}
	if len(jobs) == 0 {
		f.add("  none")
	}
	f.more(len(jobs)-rows, "vjob")
}

// fit cuts text that stands behind others of a given width.
func (f *frame) fit(s string, before int) string {
	return runewidth.Truncate(s, max(8, f.width-before), "…")
}

func (f *frame) actions(s *wire.Status, rows int) {
	title := "CONTEXT SWITCH"
	if len(s.Running) == 0 {
		title += "  none under way"
	} else {
		var plans []string
		for i := range s.Running {
			if p := s.Running[i].Plan; p != 0 && !slices.Contains(plans, strconv.FormatInt(p, 10)) {
				plans = append(plans, strconv.FormatInt(p, 10))
			}
		}
		title += fmt.Sprintf(" %s  %s under way", strings.Join(plans, ", "), cluster.Count(len(s.Running), "action"))
	}
	f.section(title)
	for i := range min(len(s.Running), rows) {
		f.add(f.action(&s.Running[i], s.At))
	}
	f.more(len(s.Running)-rows, "action")
}

// action is one action under way: elapsed time of the expected one.
func (f *frame) action(x *wire.ActiveAction, now time.Time) string {
	elapsed, expected := max(0, now.Sub(x.Began)), display.Seconds(x.ExpectedSeconds)
	share := 1.0
	if expected > 0 {
		share = min(1, float64(elapsed)/float64(expected))
	}
	where := x.From
	if x.To != "" && x.To != x.From {
		where += "→" + x.To
	}
	colour := display.Cyan
	if share >= 1 && elapsed > expected+expected/2 {
		colour = display.Yellow
	}
	bar := max(10, f.width-72)
	head := cell(display.Clean(x.VM), 8) + " " + cell(display.Clean(x.Kind), 8) + " " + cell(display.Clean(where), 18) + " " + cell(display.Clean(x.Phase), 10) + " "
	return head + f.paint(colour, display.Gauge(share, min(bar, 40))) + " " + f.fit(display.Span(elapsed)+" of "+display.Span(expected), 48+min(bar, 40))
}

func (f *frame) events(events []wire.Event, rows int) {
	f.section("EVENTS")
	for i := max(0, len(events)-rows); i < len(events); i++ {
		e := &events[i]
		at := e.At.Local().Format("15:04:05")
		f.add(at + " " + f.paint(display.ColourOf[e.Kind], cell(display.Clean(e.Kind), 9)) + " " + f.fit(display.Clean(display.Event(e)), 19))
	}
}

// more says how many could not be shown.
func (f *frame) more(n int, noun string) {
	if n > 0 {
		f.add(f.paint(display.Grey, fmt.Sprintf("  … and %d more %s", n, noun+plural(n))))
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
