package oar

import (
	"fmt"
	"io"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/oar"
	"vjob/oar/request"
)

// explain describes each alternative in words, with the rules that place it if the nodes are known.
func explain(a *cli.App, w request.Spec, placements []request.Placement) error {
	for i, alternative := range w.Request.Alternatives {
		shapes, err := request.VMGroups(alternative, request.DefaultConfig())
		if err != nil {
			return err
		}
		head := describeWalltime(alternative.Walltime)
		if n := len(w.Request.Alternatives); n > 1 {
			head = fmt.Sprintf("alternative %d of %d, %s", i+1, n, head)
		}
		if len(shapes) > 1 {
			head += ", all at the same time"
		}
		if i > 0 {
			head = "\n" + head
		}
		if _, err := fmt.Fprintf(a.Out, "%s:\n", head); err != nil {
			return err
		}
		t := &display.Table{Heads: display.Heads(">VMS EACH WHERE")}
		for j := range shapes {
			t.Row(vmCount(&shapes[j]), describeSize(&shapes[j]), describeNodes(&shapes[j], w.Filters[0].Text))
		}
		if err := t.Write(a.Out, 0); err != nil {
			return err
		}
		if placements != nil {
			if err := printPlacement(a, &placements[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// printPlacement prints sizes and rules.
func printPlacement(a *cli.App, m *request.Placement) error {
	var b strings.Builder
	for first := 0; first < len(m.VMs); {
		next := first
		for next < len(m.VMs) && m.VMs[next] == m.VMs[first] {
			next++
		}
		fmt.Fprintf(&b, "here: %s of %s\n", cluster.Count(next-first, "VM"), m.VMs[first])
		first = next
	}
	if m.Rules != "" {
		b.WriteString("rules:\n")
		for line := range strings.Lines(m.Rules) {
			b.WriteString("  " + display.Clean(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// describeWalltime describes a walltime.
func describeWalltime(d time.Duration) string {
	switch d {
	case request.NoWalltime:
		return "for as long as the queue allows"
	case 0:
		return "for no time at all"
	default:
		return fmt.Sprintf("for at most %s (h:m:s)", oar.FormatWalltime(d))
	}
}

// vmCount returns the number of VMs of a group, or "?" if it depends on the nodes.
func vmCount(s *request.VMGroup) string {
	total := 1
	for _, l := range append([]request.Level{s.VMs}, s.Labels...) {
		n, ok := l.Count.Number()
		if !ok {
			return "?"
		}
		if n > request.MaxVMs || total*n > request.MaxVMs {
			return fmt.Sprintf(">%d", request.MaxVMs)
		}
		total *= n
	}
	return fmt.Sprint(total)
}

// describeSize describes the size of one VM.
func describeSize(s *request.VMGroup) string {
	if s.Whole() {
		return "a whole node"
	}
	return cluster.Count(int(s.CPU/cluster.CPU), "processor")
}

// describeNodes describes the nodes.
func describeNodes(s *request.VMGroup, properties string) string {
	var parts []string
	for i, l := range s.Labels {
		in := "in "
		if i > 0 {
			in = "there in "
		}
		parts = append(parts, in+describeCount(l.Count, l.Name, ""))
	}
	number, known := s.VMs.Count.Number()
	ofEach := ""
	if len(parts) > 0 {
		ofEach = " of each"
	}
	perNode := ", one VM per node"
	if known && number == 1 {
		perNode = ""
	}
	switch {
	case s.Unit == request.Node:
		parts = append(parts, "on "+describeCount(s.VMs.Count, "node", ofEach)+perNode)
	case !known:
		parts = append(parts, "one VM for each of "+describeCount(s.VMs.Count, map[request.Unit]string{request.CPU: "cpu", request.Core: "core"}[s.Unit], ofEach))
	case len(parts) == 0:
		parts = append(parts, "anywhere")
	default:
		parts = append(parts, cluster.Count(number, "VM")+" in each")
	}
	var conditions []string
	for _, text := range []string{s.Property.Text, properties} {
		text = strings.TrimSpace(text)
		if text != "" {
			conditions = append(conditions, text)
		}
	}
	if len(conditions) == 2 {
		conditions = []string{"(" + conditions[0] + ") and (" + conditions[1] + ")"}
	}
	if len(conditions) > 0 {
		parts = append(parts, "where "+conditions[0])
	}
	return strings.Join(parts, ", ")
}

// describeCount formats a count with a noun: "one switch", "2 switches of each", "all switches".
func describeCount(c request.Count, noun, of string) string {
	many := noun + "s" + of
	if strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ch") {
		many = noun + "es" + of
	}
	switch c {
	case request.All:
		return "all " + many
	case request.Best:
		return "as many " + many + " as are free"
	case request.BestHalf:
		return "half of the " + many + " that are free"
	case "1":
		return "one " + noun + of
	default:
		return string(c) + " " + many
	}
}
