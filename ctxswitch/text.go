package ctxswitch

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"vjob/cluster"
)

// String is the canonical text form, for people, golden tests and bug reports:
// the actions with their estimated times and what they wait for, then the gangs.
//
//	2 actions, cost 6144 MiB, 2m4s
//	0  suspend 2.0  n2        0s     1m40s  2048 MiB
//	1  migrate 1.0  n1 -> n2  1m40s  2m4s   2048 MiB  live, after 0
//	gang suspend 2: 0
//	gang migrate 1: 1
func (p Plan) String() string {
	if p.Empty() {
		return "nothing to do\n"
	}
	var b strings.Builder
	noun := "actions"
	if len(p.Actions) == 1 {
		noun = "action"
	}
	fmt.Fprintf(&b, "%d %s, cost %d MiB, %s\n", len(p.Actions), noun, p.Cost, short(p.Makespan))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.TabIndent)
	for _, a := range p.Actions {
		_, _ = fmt.Fprintf(table, "%d\t%s %s\t%s\t%s\t%s\t%d MiB%s\n",
			a.ID, a.Kind, a.VM, a.route(), short(a.Start), short(a.End), a.Cost, a.remarks())
	}
	_ = table.Flush() // a strings.Builder takes everything
	for _, g := range p.Gangs {
		fmt.Fprintf(&b, "gang %s %s: %s\n", g.Kind, g.VJob, joined(g.Actions))
	}
	return b.String()
}

// route is where the action takes place: "n1", "n1 -> n2" or "-".
func (a Action) route() string {
	switch {
	case a.From == "" && a.To == "":
		return "-"
	case a.To == "" || a.From == a.To:
		return string(a.From)
	case a.From == "":
		return string(a.To)
	default:
		return string(a.From) + " -> " + string(a.To)
	}
}

// remarks is how a VM migrates and what the action waits for.
func (a Action) remarks() string {
	var words []string
	if a.Kind == cluster.Migrate && a.Live {
		words = append(words, "live")
	} else if a.Kind == cluster.Migrate {
		words = append(words, "paused")
	}
	if a.Rate > 0 {
		words = append(words, "at "+a.Rate.String())
	}
	if len(a.After) > 0 {
		words = append(words, "after "+joined(a.After))
	}
	if len(words) == 0 {
		return ""
	}
	return "\t" + strings.Join(words, ", ")
}

// joined lists actions in order, runs of numbers shortened: "0-3, 7".
func joined(ids []ActionID) string {
	ids = slices.Sorted(slices.Values(ids))
	var parts []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, fmt.Sprint(ids[i]))
		case 1:
			parts = append(parts, fmt.Sprint(ids[i]), fmt.Sprint(ids[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

func short(d time.Duration) string { return d.Round(time.Millisecond).String() }
