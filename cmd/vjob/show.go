package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
)

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show VJOB",
		Short: "show one vjob: its VMs, where they are, what happened",
		Args:  arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			id, err := resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			job, err := c.VJob(cmd.Context(), id)
			if err != nil {
				return err
			}
			if a.json() {
				return printJSON(a.out, job, true)
			}
			return a.showVJob(&job)
		},
	}
}

func (a *app) showVJob(j *wire.VJobDetail) error {
	var b strings.Builder
	facts(&b, append([][2]string{
		{"vjob", fmt.Sprintf("%d %s", j.ID, j.Name)},
		{"owner", j.Owner},
		{"state", stateLine(j)},
		{"why", why(&j.VJob)},
		{"outcome", j.Outcome},
		{"array", arrayLine(&j.VJob)},
		{"parameter", j.Parameter},
		{"queue", j.Queue},
		{"project", j.Project},
		{"deadline", strings.TrimPrefix(moment(j.Terms.Deadline), "-")},
		{"priority", rankLine(&j.VJob)},
		{"container", containerLine(&j.Terms)},
		{"reserved", strings.TrimPrefix(moment(j.Terms.Reservation), "-")},
		{"after", afterLine(j.Terms.After)},
		{"replaces", replaced(&j.VJob)},
		{"needs", fmt.Sprintf("%s, %s CPU, %s", count(j.VMCount, "VM"), cpu(j.CPUMilli), mib(j.MemoryMiB))},
		{"ran", ran(&j.VJob)},
		{"submitted", moment(&j.Submitted)},
		{"started", moment(j.Started)},
		{"ended", moment(j.Ended)},
		{"used", used(j)},
		{"suspended", count(j.Generation, "time")},
	}, passage("rules", j.Rules)...))
	b.WriteByte('\n')
	vms := &table{heads: heads("VM NODE NEXT >CPU >MEMORY IMAGE STATE")}
	for _, v := range j.VMs {
		state := ""
		if v.Ended {
			state = "ended"
		}
		vms.row(v.ID, dash(v.Node), dash(v.NextNode), cpu(v.CPUMilli), mib(v.MemoryMiB), dash(v.Image), dash(state))
	}
	if err := vms.write(&b, a.width()); err != nil {
		return err
	}
	if len(j.Events) > 0 {
		b.WriteByte('\n')
		events := eventTable(j.Events)
		if a.colours() {
			events.paint = paint
		}
		if err := events.write(&b, a.width()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// used is what the vjob has used so far. Its yield is what it got of the CPU that it
// could use; a few percent less is how exactly that is known.
func used(j *wire.VJobDetail) string {
	text := fmt.Sprintf("%s of CPU", span(seconds(j.CPUSeconds)))
	const exact = 0.95
	if yield := j.CPUSeconds / j.CPUWantedSeconds; j.CPUWantedSeconds > 0 && yield < exact {
		text += fmt.Sprintf(" (%.0f %% of what it wanted)", 100*yield)
	}
	text += fmt.Sprintf(", %s GiB·h of memory", trimmed(float64(j.MemoryMiBSeconds)/1024/3600))
	if j.EnergyJoules > 0 {
		text += fmt.Sprintf(", %s of energy", kWh(float64(j.EnergyJoules)))
	}
	return text
}

// afterLine is for whom it waits or has waited, as --after takes it.
func afterLine(after []wire.Dependency) string {
	list := make([]string, len(after))
	for i, d := range after {
		list[i] = fmt.Sprintf("%s:%d", d.When, d.On)
		if d.Array {
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
	case t.Inner != 0:
		return fmt.Sprintf("inside %d", t.Inner)
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
func ran(j *wire.VJob) string {
	text := span(seconds(j.RanSeconds))
	if j.WalltimeSeconds > 0 {
		text += " of " + walltime(j.WalltimeSeconds)
	}
	return text
}

// stateLine is the state with the step of the gang protocol when one is under way.
func stateLine(j *wire.VJobDetail) string {
	if j.Phase == "" || j.Phase == j.State {
		return j.State
	}
	return fmt.Sprintf("%s (%s)", j.State, j.Phase)
}

// facts prints names and values under each other, leaving out those without.
func facts(b *strings.Builder, list [][2]string) {
	width := 0
	for _, f := range list {
		width = max(width, len(f[0]))
	}
	for _, f := range list {
		if f[1] != "" {
			fmt.Fprintf(b, "%-*s  %s\n", width, f[0], clean(f[1]))
		}
	}
}

// passage is a text of several lines as facts under one name.
func passage(name, text string) (list [][2]string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		list = append(list, [2]string{name, strings.TrimRight(line, "\r\n")})
		name = ""
	}
	return list
}

// trimmed prints at most two decimals.
func trimmed(f float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", f), "0"), ".0")
}
