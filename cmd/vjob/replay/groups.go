package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/sim/replay"
	"vjob/sim/swf"
)

func queueOf(j *replay.VJob) string { return j.Queue }
func userOf(j *replay.VJob) string  { return j.Owner }

// mostGroups is how many queues or users are printed, the largest first.
const mostGroups = 20

// writeGroups prints how those with something in common fared in each way, and how much
// less or more they wait than in the first. Nothing is printed if all have the same.
func writeGroups(b *strings.Builder, noun string, results []*replay.Result, name func(*replay.VJob) string) error {
	first := results[0].Groups(name)
	if len(first) < 2 {
		return nil
	}
	t := &display.Table{Heads: display.Heads(noun + " >VJOBS")}
	var others []map[string]replay.Group
	for i, r := range results {
		words := []string{"WAIT", "95 %", "SLOWDOWN", "95 %"}
		if i > 0 {
			words = append(words, "WAIT IS")
		}
		for _, word := range words {
			t.Heads = append(t.Heads, display.Column{Name: r.Policy + " " + word, Right: true})
		}
		of := map[string]replay.Group{}
		for _, g := range r.Groups(name) {
			of[g.Name] = g
		}
		others = append(others, of)
	}
	for _, g := range first[:min(len(first), mostGroups)] {
		cells := []string{cmp.Or(g.Name, "-"), strconv.Itoa(g.VJobs)}
		for i, of := range others {
			o, there := of[g.Name]
			cells = append(cells, fared(&o, there)...)
			if i > 0 {
				cells = append(cells, relative(o.Wait.Mean, g.Wait.Mean, there))
			}
		}
		t.Row(cells...)
	}
	b.WriteByte('\n')
	if err := t.Write(b, 0); err != nil {
		return err
	}
	if more := len(first) - mostGroups; more > 0 {
		fmt.Fprintf(b, "and %d more, which -o json tells\n", more)
	}
	return nil
}

// fared is the cells of a group.
func fared(g *replay.Group, there bool) []string {
	if !there {
		return []string{"-", "-", "-", "-"}
	}
	ratio := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return []string{replay.Clock(display.Seconds(g.Wait.Mean)), replay.Clock(display.Seconds(g.Wait.P95)), ratio(g.Slowdown.Mean), ratio(g.Slowdown.P95)}
}

// relative tells how a figure has changed: "-35 %".
func relative(now, before float64, there bool) string {
	switch {
	case !there:
		return "-"
	case before == now:
		return "the same"
	case before == 0:
		return "more"
	}
	return fmt.Sprintf("%+.0f %%", 100*(now-before)/before)
}

// writeRefusals counts the vjobs that a daemon would not take, by the reason.
func writeRefusals(b *strings.Builder, results []*replay.Result) error {
	for _, r := range results {
		if len(r.Refused) == 0 {
			continue
		}
		counts, names := map[string]int{}, map[string]string{}
		for _, x := range r.Refused {
			if counts[x.Why] == 0 {
				names[x.Why] = x.Name
			}
			counts[x.Why] += x.VJobs
		}
		fmt.Fprintf(b, "\n%s refuses\n", r.Policy)
		t := &display.Table{Heads: display.Heads(">VJOBS FIRST WHY")}
		whys := slices.Sorted(maps.Keys(counts))
		slices.SortStableFunc(whys, func(x, y string) int { return cmp.Compare(counts[y], counts[x]) })
		for _, why := range whys[:min(len(whys), mostGroups)] {
			t.Row(strconv.Itoa(counts[why]), names[why], why)
		}
		if err := t.Write(b, 0); err != nil {
			return err
		}
		if more := len(whys) - mostGroups; more > 0 {
			fmt.Fprintf(b, "and for %d more reasons, which -o json tells\n", more)
		}
	}
	return nil
}

// writeConventions prints what was done about the gaps of a log.
func writeConventions(b *strings.Builder, log *swf.Log) error {
	if log == nil || len(log.Counts) == 0 {
		return nil
	}
	fmt.Fprintf(b, "\nThe log has %s with jobs; of them:\n", cluster.Count(log.Lines, "line"))
	t := &display.Table{Heads: display.Heads(">JOBS >FIRST_LINE WHAT")}
	for _, c := range log.Counts {
		t.Row(strconv.Itoa(c.Jobs), strconv.Itoa(c.Line), c.Convention.String())
	}
	return t.Write(b, 0)
}
