package energy

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// energyNow is what is drawn at present.
type energyNow struct {
	Power wire.NodePower   `json:"power"` // of all nodes of which it is known
	Nodes int              `json:"nodes"` // so many
	Label string           `json:"label,omitempty"`
	Racks []rackPower      `json:"groups"` // by the label
	VJobs []wire.VJobPower `json:"vjobs"`  // those that draw, the most first
}

type rackPower struct {
	Name  string         `json:"name"`
	Nodes int            `json:"nodes"`
	Power wire.NodePower `json:"power"`
}

func energyNowCommand(a *cli.App) *cobra.Command {
	var label string
	cmd := &cobra.Command{
		Use:   "now",
		Short: "what the cluster draws now: in all, by rack and by vjob",
		Long: `Adds up what the daemon knows of the nodes whose power model stands in its settings: what they draw by
the load that was last seen, what they draw at most while all VMs use what they may, and what they have
drawn. A vjob draws its shares of its nodes: of their idle power and of what the load adds, both by CPU.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			nodes, err := c.Nodes(cmd.Context())
			if err != nil {
				return err
			}
			list, err := cli.FetchVJobs(cmd.Context(), c, client.VJobQuery{Live: true})
			if err != nil {
				return err
			}
			now := sumPower(nodes.Nodes, list.VJobs, label)
			if a.Structured() {
				return a.Print(now)
			}
			return showPower(a, &now)
		},
	}
	cmd.Flags().StringVar(&label, "by", "rack", "the `LABEL` of nodes by which they are grouped")
	return cmd
}

// sumPower adds up what is known.
func sumPower(nodes []wire.Node, jobs []wire.VJob, label string) energyNow {
	now := energyNow{Label: label, Racks: []rackPower{}, VJobs: []wire.VJobPower{}}
	add := func(to *wire.NodePower, p *wire.NodePower) {
		to.Watts += p.Watts
		to.MostWatts += p.MostWatts
		to.EnergyJoules += p.EnergyJoules
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Power == nil {
			continue
		}
		now.Nodes++
		add(&now.Power, n.Power)
		name, labelled := n.Labels[label]
		if !labelled {
			continue
		}
		at, known := slices.BinarySearchFunc(now.Racks, name, func(r rackPower, name string) int { return strings.Compare(r.Name, name) })
		if !known {
			now.Racks = slices.Insert(now.Racks, at, rackPower{Name: name})
		}
		now.Racks[at].Nodes++
		add(&now.Racks[at].Power, n.Power)
	}
	for i := range jobs {
		if j := &jobs[i]; j.PowerWatts > 0 {
			now.VJobs = append(now.VJobs, wire.VJobPower{ID: j.ID, Name: j.Name, Owner: j.Owner, Watts: j.PowerWatts})
		}
	}
	slices.SortFunc(now.VJobs, func(a, b wire.VJobPower) int { return cmp.Or(cmp.Compare(b.Watts, a.Watts), cmp.Compare(a.ID, b.ID)) })
	return now
}

func showPower(a *cli.App, now *energyNow) error {
	if now.Nodes == 0 {
		_, err := fmt.Fprintln(a.Out, "the settings of the daemon have no power model for any node: see energy.models in docs/explanation/energy.md")
		return err
	}
	var b strings.Builder
	display.Facts(&b, [][2]string{
		{"draws", fmt.Sprintf("%s, %s", display.Watts(now.Power.Watts), cluster.Count(now.Nodes, "node"))},
		{"at most", display.Watts(now.Power.MostWatts) + " while all VMs use what they may"},
		{"so far", display.KWh(float64(now.Power.EnergyJoules))},
	})
	if len(now.Racks) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads(strings.ToUpper(strings.ReplaceAll(now.Label, " ", "_")) + " >NODES >POWER >AT_MOST >ENERGY")}
		for _, r := range now.Racks {
			t.Row(r.Name, strconv.Itoa(r.Nodes), display.Watts(r.Power.Watts), display.Watts(r.Power.MostWatts), display.KWh(float64(r.Power.EnergyJoules)))
		}
		if err := t.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	if len(now.VJobs) > 0 {
		b.WriteByte('\n')
		t := &display.Table{Heads: display.Heads(">ID NAME OWNER >POWER")}
		for _, j := range now.VJobs {
			t.Row(strconv.FormatInt(j.ID, 10), display.Dash(j.Name), j.Owner, display.Watts(j.Watts))
		}
		if err := t.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}
