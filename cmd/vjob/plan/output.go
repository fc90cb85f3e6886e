package plan

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/repack"
	"vjob/repack/solve"
)

// Planned is the JSON of `vjob plan -o json`. What there is only with a plan is
// null without one.
type Planned struct {
	Instance    string         `json:"instance"`
	Solved      bool           `json:"solved"`
	Verdict     string         `json:"verdict"`
	Why         []string       `json:"why"`
	Measure     string         `json:"measure"`
	Objective   *int64         `json:"objective"`
	Bound       *int64         `json:"lower_bound"`
	OverBound   *float64       `json:"objective_over_bound"`
	Proved      bool           `json:"proved"`
	Completion  *int64         `json:"completion_s"`
	Makespan    *int64         `json:"makespan_s"`
	Migrations  *int           `json:"migrations"`
	Actions     map[string]int `json:"actions"`
	Transfers   int            `json:"transfers"` // actions that share links
	Penalty     *int64         `json:"penalty"`
	Broken      []string       `json:"broken"`
	NodesUsed   *int           `json:"nodes_used"`
	GrowthDelay *int64         `json:"growth_delay_s"`
	FirstPlan   *float64       `json:"first_plan_ms"`
	Elapsed     float64        `json:"elapsed_ms"`
	Seed        uint64         `json:"seed"`
	Out         string         `json:"out,omitempty"`
	SVG         string         `json:"svg,omitempty"`
}

// verdictWords are those of the JSON.
var verdictWords = map[solve.Verdict]string{
	solve.Solved: "solved", solve.Impossible: "impossible", solve.OutOfTime: "out_of_time", solve.Exhausted: "exhausted",
}

func planJSON(in *repack.Instance, f *planFlags, s *searched) *Planned {
	p := &Planned{
		Instance: in.Name, Verdict: verdictWords[s.result.Verdict], Why: cli.NonNil(s.result.Why), Measure: f.objective,
		Actions: map[string]int{}, Broken: cli.NonNil(s.broken), Elapsed: display.Milliseconds(s.elapsed), Seed: f.seed,
	}
	if s.result.Verdict != solve.Solved {
		return p
	}
	x := &s.figures
	p.Solved, p.Proved, p.Bound = true, s.result.Proved, &s.result.Bound
	if v, ok := value(f.objective, x); ok {
		p.Objective = &v
	}
	if ratio, ok := s.overBound(f.objective); ok {
		p.OverBound = &ratio
	}
	makespan, growth, first := int64(x.Makespan), int64(x.GrowthDelay), display.Milliseconds(s.first)
	p.Completion, p.Makespan, p.Migrations, p.Penalty = &x.Objective, &makespan, &x.Migrations, &x.Penalty
	p.NodesUsed, p.GrowthDelay, p.FirstPlan = &x.NodesUsed, &growth, &first
	for kind, n := range x.Count {
		p.Actions[repack.Kinds[kind]] = n
	}
	p.Transfers = len(transfers(s.result.Plan))
	p.Out, p.SVG = f.out, f.svg
	return p
}

// overBound is how many times the bound the objective is.
func (s *searched) overBound(objective string) (ratio float64, ok bool) {
	v, ok := value(objective, &s.figures)
	switch bound := s.result.Bound; {
	case !ok || bound < 0:
		return 0, false
	case v == bound:
		return 1, true
	case bound == 0:
		return 0, false
	default:
		return float64(v) / float64(bound), true
	}
}

func showPlanned(a *cli.App, in *repack.Instance, f *planFlags, s *searched) error {
	if a.Structured() {
		return a.Print(planJSON(in, f, s))
	}
	if s.result.Verdict != solve.Solved {
		return nil // the complaint says it all
	}
	var b summary
	b.line("instance", described(in))
	b.line("result", s.quality(f))
	b.figures(&s.figures)
	if len(s.broken) > 0 {
		b.line("soft rules", fmt.Sprintf("%s, penalty %d; the first: %s", cluster.Count(len(s.broken), "breach")+"es", s.figures.Penalty, s.broken[0]))
	}
	if in.Network != nil {
		b.line("network", carried(transfers(s.result.Plan)))
	}
	b.line("first plan", "after "+display.Exactly(s.first))
	b.line("searched", display.Exactly(s.elapsed))
	if f.out != "" {
		b.line("written", f.out)
	}
	if f.svg != "" {
		b.line("drawn", f.svg)
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// described is an instance in short.
func described(in *repack.Instance) string {
	text := fmt.Sprintf("%s, %s, %s", cluster.Count(len(in.Nodes), "node"), cluster.Count(len(in.VMs), "VM"), cluster.Count(len(in.Rules), "rule"))
	if in.Name != "" {
		text = in.Name + ": " + text
	}
	if n := len(in.Overloaded()); n > 0 {
		text += fmt.Sprintf("; %s over capacity at the start", cluster.Count(n, "node"))
	}
	return text
}

// quality says how good the plan is.
func (s *searched) quality(f *planFlags) string {
	ratio, ok := s.overBound(f.objective)
	switch {
	case s.result.Proved:
		return "the best plan (proved)"
	case ok:
		return fmt.Sprintf("at most %.1f %% over the best: no plan has less %s than %d", 100*(ratio-1), f.objective, s.result.Bound)
	default:
		return "a plan, how good is not known"
	}
}

// summary is lines of names and values.
type summary struct{ strings.Builder }

func (b *summary) line(name, value string) {
	fmt.Fprintf(&b.Builder, "%-16s %s\n", name, display.Clean(value))
}

// figures are the measures of a plan, with their units.
func (b *summary) figures(x *repack.Figures) {
	b.line("completion", fmt.Sprintf("%d s, the sum over the actions on VMs (%d s with those on nodes)", x.Objective, x.All))
	b.line("makespan", fmt.Sprintf("%d s", int64(x.Makespan)))
	var kinds []string
	for kind, n := range x.Count {
		if n > 0 {
			kinds = append(kinds, strconv.Itoa(n)+" "+repack.Kinds[kind])
		}
	}
	if len(kinds) == 0 {
		kinds = []string{"none"}
	}
	b.line("actions", strings.Join(kinds, ", "))
	if x.GrowthDelay > 0 {
		b.line("growth", fmt.Sprintf("%d s, the sum of how long VMs that stay wait for what they ask for", int64(x.GrowthDelay)))
	}
	b.line("nodes used", strconv.Itoa(x.NodesUsed))
}

// transfers are the actions of a plan that share links.
func transfers(plan *repack.Plan) (list []repack.Action) {
	for _, a := range plan.Actions {
		if a.Rate > 0 {
			list = append(list, a)
		}
	}
	return list
}

// carried says how many transfers there are, and how many of them at one time.
func carried(list []repack.Action) string {
	starts, ends := make([]repack.Ticks, len(list)), make([]repack.Ticks, len(list))
	for i, a := range list {
		starts[i], ends[i] = a.Start, a.End
	}
	slices.Sort(starts)
	slices.Sort(ends)
	most, gone := 0, 0
	for i, at := range starts { // most are under way when one starts
		for ends[gone] <= at {
			gone++
		}
		most = max(most, i+1-gone)
	}
	return fmt.Sprintf("%s over links with a limit, at most %d at a time", cluster.Count(len(list), "transfer"), most)
}
