package vjobs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/vjobfile"
)

func showCommand(a *cli.App) *cobra.Command {
	var file bool
	cmd := &cobra.Command{
		Use:   "show VJOB...",
		Short: "show vjobs and arrays: what was submitted, their VMs, where they are, what happened",
		Example: `  vjob show 12
  vjob show sweep                    # an array and its vjobs; 'sweep[3]' is one of them
  vjob show --file 12 >again.yaml    # a vjob file that submits the same
  vjob show -o json 12`,
		Args: cli.Arguments(-1, "vjobs or arrays"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := cli.Resolve(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			switch {
			case file && len(list) > 1:
				return cluster.Fault("--file", "%d vjobs and arrays given, want one: a file submits one", len(list))
			case file:
				return showFile(cmd.Context(), a, c, list[0])
			case a.Structured():
				return printVJobs(cmd.Context(), a, c, list)
			}
			return showEach(cmd.Context(), a, c, list)
		},
	}
	cmd.Flags().BoolVar(&file, "file", false, "print a vjob file that submits the same again")
	return cmd
}

// showFile prints the vjob file of a vjob or an array.
func showFile(ctx context.Context, a *cli.App, c *client.Client, n cli.Named) error {
	s, err := resubmission(ctx, c, n, false)
	switch {
	case err != nil:
		return err
	case a.Structured():
		return a.Print(s)
	}
	return printFile(a, &s)
}

// printVJobs prints vjobs for programs: one that is named alone as it is.
func printVJobs(ctx context.Context, a *cli.App, c *client.Client, list []cli.Named) error {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = n.Word()
	}
	jobs, err := cli.FetchEach(ctx, c, words)
	if err != nil {
		return err
	}
	if len(list) == 1 && !list[0].Array {
		return a.Print(jobs[0])
	}
	return a.Print(map[string]any{"vjobs": jobs, "total": len(jobs)})
}

// showEach shows vjobs and arrays for people, one below the other.
func showEach(ctx context.Context, a *cli.App, c *client.Client, list []cli.Named) error {
	for i, n := range list {
		if i > 0 {
			_, _ = fmt.Fprintln(a.Out)
		}
		show := showNumber
		if n.Array {
			show = showArray
		}
		if err := show(ctx, a, c, n); err != nil {
			return err
		}
	}
	return nil
}

// showNumber shows one vjob.
func showNumber(ctx context.Context, a *cli.App, c *client.Client, n cli.Named) error {
	job, err := c.VJob(ctx, n.ID)
	if err != nil {
		return err
	}
	s, err := c.Submission(ctx, n.ID, false)
	if err != nil {
		return err
	}
	return showVJob(a, &job, &s)
}

// submittedLine is when a vjob was submitted, and from where.
func submittedLine(j *wire.VJobDetail) string {
	return strings.TrimSuffix(display.Moment(&j.Submitted)+" from "+j.Origin.String(), " from ")
}

func printFile(a *cli.App, s *wire.Submission) error {
	text, err := vjobfile.Format(s)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

func showVJob(a *cli.App, j *wire.VJobDetail, s *wire.Submission) error {
	var paint func(column, cell string) string
	if a.Colours() {
		paint = display.Paint
	}
	_, err := io.WriteString(a.Out, Describe(j, s, a.Width(), paint))
	return err
}

// Describe returns what is known about a vjob and its submission, for a terminal of a width; 0 is unlimited. Paint colours cells
// of tables and may be nil.
func Describe(j *wire.VJobDetail, s *wire.Submission, width int, paint func(column, cell string) string) string {
	var b strings.Builder
	facts := [][2]string{
		{"vjob", fmt.Sprintf("%d %s", j.ID, j.Name)},
		{"owner", j.Owner},
		{"state", stateLine(j)},
		{"why", display.Why(&j.VJob)},
		{"outcome", display.Outcome(&j.VJob)},
		{"array", arrayLine(&j.VJob)},
		{"parameter", j.Parameter},
		{"queue", j.Queue},
		{"project", j.Project},
		{"pool", j.Pool},
	}
	facts = append(facts, termLines(&j.Terms.Terms)...)
	facts = append(facts, [][2]string{
		{"late", j.Late},
		{"priority", rankLine(&j.VJob)},
		{"container", containerLine(&j.Terms)},
		{"to start", windowLine(&j.Terms.Terms)},
		{"after", afterLine(j.Terms.After)},
		{"replaces", replaced(&j.VJob)},
		{"needs", fmt.Sprintf("%s, %s CPU, %s", cluster.Count(j.VMCount, "VM"), display.CPU(j.CPUMilli), display.MiB(j.MemoryMiB))},
		{"ran", ran(j)},
		{"submitted", submittedLine(j)},
		{"started", display.Moment(j.Started)},
		{"ended", display.Moment(j.Ended)},
		{"used", used(j)},
		{"suspended", cluster.Count(j.Generation, "time")},
	}...)
	facts = append(facts, fileFacts(j.OutputFiles)...)
	facts = append(facts, submitted(j, s)...)
	display.Facts(&b, append(facts, display.Passage("rules", j.Rules)...))
	sections := []*display.Table{vmTable(j)}
	if entitled := entitledTable(j.VMs); entitled != nil {
		sections = append(sections, entitled)
	}
	if len(j.Refusals) > 0 {
		sections = append(sections, refusalTable(j.Refusals))
	}
	if len(j.Events) > 0 {
		events := display.EventTable(j.Events)
		events.Paint = paint
		sections = append(sections, events)
	}
	for _, t := range sections {
		b.WriteByte('\n')
		_ = t.Write(&b, width) // a builder takes everything
	}
	return b.String()
}

// vmTable is the table of the VMs of a vjob, which share its state unless they have ended before.
func vmTable(j *wire.VJobDetail) *display.Table {
	vms := &display.Table{Heads: display.Heads("VM NODE NEXT >CPU >MEMORY IMAGE STATE")}
	for _, v := range j.VMs {
		state := j.State
		if v.Ended {
			state = strings.TrimSpace("ended " + v.ExitStatus)
		}
		vms.Row(v.ID, display.Dash(v.Node), display.Dash(v.NextNode), display.CPU(v.CPUMilli), display.MiB(v.MemoryMiB), display.Dash(v.Image), state)
	}
	return vms
}

// entitledTable lists the VMs that are entitled to less CPU than they demand, or capped; nil without any.
func entitledTable(list []wire.VM) (t *display.Table) {
	for _, v := range list {
		e := v.Entitlement
		if e == nil || e.CPU >= e.CPUDemand && e.CPUCap == 0 {
			continue
		}
		if t == nil {
			t = &display.Table{Heads: display.Heads("VM >CPU_DEMAND >ENTITLED >WEIGHT >CAP")}
		}
		limit := "-"
		if e.CPUCap > 0 {
			limit = display.CPU(e.CPUCap)
		}
		t.Row(v.ID, display.CPU(e.CPUDemand), display.CPU(e.CPU), strconv.Itoa(e.CPUWeight), limit)
	}
	return t
}

// termLines are the lines of the terms that [cluster.Terms] titles: texts, instants and modes that are not the default.
func termLines(terms *cluster.Terms) (lines [][2]string) {
	for _, t := range cluster.TermFields() {
		if t.Title == "" {
			continue
		}
		text := ""
		switch value := t.In(terms).(type) {
		case *string:
			text = *value
		case *time.Time:
			text = strings.TrimPrefix(display.Moment(value), "-")
		case *cluster.MoveMode:
			if *value != cluster.MovesAutomatic {
				text = value.String()
			}
		}
		lines = append(lines, [2]string{t.Title, text})
	}
	return lines
}

// refusalTable lists the nodes that are avoided for the vjob, and why.
func refusalTable(list []wire.Refusal) *display.Table {
	t := &display.Table{Heads: display.Heads("AVOIDS VM SINCE WHY")}
	for _, r := range list {
		t.Row(r.Node, r.VM, display.Moment(&r.At), r.Why)
	}
	return t
}

// used is what the vjob has used so far. Its yield is what it got of the CPU that it
// could use; a few percent less is how exactly that is known.
func used(j *wire.VJobDetail) string {
	text := fmt.Sprintf("%s of CPU", display.Span(display.Seconds(j.CPUSeconds)))
	if j.ClockSpeed > 0 {
		text += fmt.Sprintf(" by its guests' clock, which is simulated and %s times as fast", display.Trimmed(j.ClockSpeed))
	}
	const exact = 0.95
	if yield := j.CPUSeconds / j.CPUWantedSeconds; j.CPUWantedSeconds > 0 && yield < exact {
		text += fmt.Sprintf(" (%.0f %% of what it wanted)", 100*yield)
	}
	text += ", " + memoryHours(j.MemoryMiBSeconds) + " of memory"
	if j.EnergyJoules > 0 {
		text += fmt.Sprintf(", %s of energy", display.KWh(float64(j.EnergyJoules)))
	}
	return text
}

// memoryHours formats an amount of memory over time in the largest unit of which it is not 0.
func memoryHours(mibSeconds int64) string {
	hours := float64(mibSeconds) / 3600
	if text := display.Trimmed(hours / 1024); text != "0" {
		return text + " GiB·h"
	}
	return display.Trimmed(hours) + " MiB·h"
}

// afterLine formats the dependencies of a vjob as --after takes them.
func afterLine(after []cluster.Dependency) string {
	list := make([]string, len(after))
	for i, d := range after {
		list[i] = fmt.Sprintf("%s:%d", d.When.Short(), d.On)
		switch {
		case d.Each:
			list[i] += "[i]"
		case d.Array:
			list[i] += "[]"
		}
	}
	return strings.Join(list, " ")
}

// containerLine is in which container it runs, or that it is one.
func containerLine(t *wire.Terms) string {
	switch {
	case t.Container:
		return "holds its room for vjobs inside: vjob submit --inner"
	case t.Inner != "":
		return "inside " + string(t.Inner)
	default:
		return ""
	}
}

// replaced is the one that failed and of which it is the next attempt.
func replaced(j *wire.VJob) string {
	if j.Replaces == 0 {
		return ""
	}
	return fmt.Sprintf("%d, attempt %d", j.Replaces, j.Attempts+1)
}

// arrayLine is which vjob of which array it is.
func arrayLine(j *wire.VJob) string {
	if j.Array == 0 {
		return ""
	}
	return fmt.Sprintf("%d, vjob %d of it", j.Array, j.Index)
}

// ran is the running time so far, and the most that is allowed.
func ran(j *wire.VJobDetail) string {
	text := display.Span(display.Seconds(j.RanSeconds))
	if j.WalltimeSeconds > 0 {
		text += " of " + display.Walltime(j.WalltimeSeconds)
	}
	if crowded := display.Seconds(j.CrowdedSeconds); crowded > 0 {
		text += fmt.Sprintf(", and %s on crowded nodes, which do not count", display.Span(crowded))
	}
	return text
}

// stateLine is the state, with the step of the gang protocol where the state has several.
func stateLine(j *wire.VJobDetail) string {
	switch j.State {
	case cluster.Suspending.String(), cluster.Resuming.String(), cluster.Migrating.String():
		if j.Phase != "" && j.Phase != j.State {
			return fmt.Sprintf("%s (%s)", j.State, j.Phase)
		}
	}
	return j.State
}

// windowLine is when a vjob may start; "" is whenever.
func windowLine(t *cluster.Terms) string {
	var words []string
	if !t.NotBefore.IsZero() {
		words = append(words, "not before "+display.Moment(&t.NotBefore))
	}
	if !t.NotAfter.IsZero() {
		words = append(words, "by "+display.Moment(&t.NotAfter))
	}
	return strings.Join(words, ", ")
}
