package vjobs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// submitted are the facts about what the VMs of a vjob run, as it was submitted.
func submitted(j *wire.VJobDetail, s *wire.Submission) (facts [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(j.Terms.Labels)) {
		facts = append(facts, [2]string{"label", name + "=" + j.Terms.Labels[name]})
	}
	for i, shape := range s.Shapes {
		facts = append(facts, [2]string{"or", fmt.Sprintf("%s for %s (alternative %d)",
			cluster.Count(max(shape.Count, len(shape.VMs)), "VM"), display.Walltime(shape.WalltimeSeconds), i+1)})
	}
	if s.Template != nil {
		return append(facts, workOf("", s.Template)...)
	}
	const most = 8
	for rank := range s.VMs[:min(most, len(s.VMs))] {
		facts = append(facts, workOf(fmt.Sprintf(" of VM %d", rank), &s.VMs[rank])...)
	}
	if rest := len(s.VMs) - most; rest > 0 {
		facts = append(facts, [2]string{"and", fmt.Sprintf("%d more VMs: vjob show --file %d", rest, j.ID)})
	}
	return facts
}

// mostFiles is how many output files are listed.
const mostFiles = 8

// tellFiles says after a submission where its output will be.
func tellFiles(a *cli.App, files []wire.OutputFile) {
	for _, f := range files[:min(mostFiles, len(files))] {
		_, _ = fmt.Fprintf(a.Err, "vjob: output: %s\n", display.Clean(f.Path))
	}
	if rest := len(files) - mostFiles; rest > 0 {
		_, _ = fmt.Fprintf(a.Err, "vjob: output: and %s\n", cluster.Count(rest, "more file"))
	}
}

// fileFacts are the output files, each with what is wrong with it.
func fileFacts(files []wire.OutputFile) (facts [][2]string) {
	for _, f := range files[:min(mostFiles, len(files))] {
		text := f.Path
		if f.Problem != "" {
			text += ": " + f.Problem
		}
		facts = append(facts, [2]string{"output", text})
	}
	if rest := len(files) - mostFiles; rest > 0 {
		facts = append(facts, [2]string{"output", "and " + cluster.Count(rest, "more file")})
	}
	return facts
}

// workOf are the facts about what one VM runs. A long script is cut.
func workOf(of string, v *wire.VMSpec) (facts [][2]string) {
	if len(v.Command) > 0 {
		facts = append(facts, [2]string{"command" + of, cluster.JoinWords(v.Command)})
	}
	const most = 20
	lines := slices.Collect(strings.Lines(v.Script))
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("… and %d more lines: vjob show --file", len(lines)-most))
	}
	facts = append(facts, display.Passage("script"+of, strings.Join(lines, ""))...)
	for _, name := range slices.Sorted(maps.Keys(v.Env)) {
		facts = append(facts, [2]string{"variable" + of, name + "=" + v.Env[name]})
	}
	if len(v.Steps) > 0 {
		work := make([]string, len(v.Steps))
		for i, s := range v.Steps {
			work[i] = fmt.Sprintf("%s@%s", display.Span(display.Seconds(s.Seconds)), display.CPU(s.CPUMilli))
		}
		facts = append(facts, [2]string{"work" + of, strings.Join(work, ",")})
	}
	return facts
}
