package energy

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy"
)

func energyConsolidationCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "consolidation",
		Short: "where VMs were moved to draw less, or why they were not",
		Long: `Tells what came of the daemon's last look for places where VMs that run would draw less, of the last look for which some
were moved, and of all since the daemon was started (settings energy.consolidate; administrators). What is saved is
reckoned within the horizon; a look of a large cluster is at a piece of it.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			now, err := c.Consolidation(cmd.Context())
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(now)
			}
			return showConsolidation(a, &now)
		},
	}
}

func showConsolidation(a *cli.App, now *wire.Consolidation) error {
	if !now.Enabled {
		_, err := fmt.Fprintln(a.Out, "VMs are not moved to save power: see energy.consolidate and energy.models in the settings of the daemon")
		return err
	}
	var b strings.Builder
	facts := [][2]string{{"since start", fmt.Sprintf("%s, %s by %s, reckoned to save %s for %s",
		cluster.Count(now.Looks, "look"), cluster.Count(now.VMs, "VM")+" moved", cluster.Count(now.Plans, "plan"), energy.Joules(now.SavesJoules).Text(), energy.Joules(now.CostsJoules).Text())}}
	if now.NextAt != nil {
		facts = append(facts, [2]string{"next look", "not before " + display.Moment(now.NextAt) + ", once something has changed"})
	}
	display.Facts(&b, facts)
	for _, l := range []struct {
		title string
		look  *wire.ConsolidationLook
	}{{"last look", now.Last}, {"last plan", now.Done}} {
		if l.look == nil || l.title == "last plan" && now.Last != nil && l.look.At.Equal(now.Last.At) {
			continue
		}
		b.WriteByte('\n')
		display.Facts(&b, lookFacts(l.title, l.look))
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// lookFacts tells of one look.
func lookFacts(title string, l *wire.ConsolidationLook) [][2]string {
	facts := [][2]string{{title, display.Moment(&l.At) + ", at " + cluster.Count(l.Nodes, "node") + piece(l.Looks)}}
	if len(l.VMs) > 0 {
		facts = append(facts, [2]string{"better off", fmt.Sprintf("%s of %s: %s instead of %s, %s saved for %s",
			cluster.Count(len(l.VMs), "VM"), cluster.Count(len(l.VJobs), "vjob"), display.Watts(l.AfterWatts), display.Watts(l.BeforeWatts),
			energy.Joules(l.SavesJoules).Text(), energy.Joules(l.CostsJoules).Text())})
		facts = append(facts, [2]string{"VMs", strings.Join(l.VMs, " ")})
	}
	if len(l.Dark) > 0 {
		facts = append(facts, [2]string{"could go off", strings.Join(l.Dark, " ")})
	}
	if l.YieldAfter > l.YieldBefore {
		facts = append(facts, [2]string{"CPU", fmt.Sprintf("%.1f %% of what is reserved instead of %.1f %%", 100*l.YieldAfter, 100*l.YieldBefore)})
	}
	if l.Plan != 0 {
		return append(facts, [2]string{"done", fmt.Sprintf("by plan %d", l.Plan)})
	}
	return append(facts, [2]string{"not done", l.Why})
}

// piece tells that a look was at a part of the cluster only.
func piece(looks int) string {
	if looks <= 1 {
		return ""
	}
	return fmt.Sprintf(", one of %d pieces", looks)
}
