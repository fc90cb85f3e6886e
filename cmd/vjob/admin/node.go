package admin

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func showNode(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show NODE",
		Short: "show one node: its state and load, what VMs can be on it, and how long actions take there",
		Long: `Shows one node: its state, what is used of it, its VMs, the CPU model and machine types that it offers, and how long
actions are estimated to take there. A VM comes only to nodes that offer the machine type and the CPU features that it was
booted with.`,
		Args: cli.Arguments(1, "the name of a node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cluster.IsName(args[0]) {
				return cluster.BadField("node", args[0], "the name of a node (see vjob nodes)")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			node, err := c.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(node)
			}
			return printNode(a, &node)
		},
	}
}

func printNode(a *cli.App, n *wire.NodeDetail) error {
	var b strings.Builder
	power := ""
	if n.Power != nil {
		power = fmt.Sprintf("%s, at most %s", display.Watts(n.Power.Watts), display.Watts(n.Power.MostWatts))
	}
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		labels = append(labels, key+"="+n.Labels[key])
	}
	problem := display.NodeProblem(&n.Node)
	if problem == display.Dash("") {
		problem = ""
	}
	list := [][2]string{
		{"node", n.Name},
		{"state", display.NodeState(&n.Node)},
		{"cpu", fmt.Sprintf("%s of %s", display.CPU(n.UsedCPUMilli), display.CPU(n.CPUMilli))},
		{"memory", fmt.Sprintf("%s of %s", display.MiB(n.UsedMemoryMiB), display.MiB(n.MemoryMiB))},
		{"vms", strings.Join(n.VMs, " ")},
		{"power", power},
		{"labels", strings.Join(labels, " ")},
		{"problem", problem},
	}
	for i := range n.Platforms {
		p := &n.Platforms[i]
		list = append(list, display.Passage(p.Type, platformText(p))...)
	}
	if len(n.Platforms) == 0 {
		list = append(list, [2]string{"platform", "unknown: VMs come here unchecked"})
	}
	display.Facts(&b, list)
	b.WriteByte('\n')
	if err := durationTable(n.Durations).Write(&b, a.Width()); err != nil {
		return err
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// durationTable shows the estimates for actions, and where they come from. The example of 4 GiB is what
// users compare with the times of a switch.
func durationTable(list []wire.NodeDuration) *display.Table {
	const example = 4
	t := &display.Table{Heads: display.Heads(fmt.Sprintf("ACTION >CONSTANT >PER_GIB >OF_%dGiB >OBSERVED >SPREAD FROM", example))}
	for _, d := range list {
		spread := display.Dash("")
		if d.Observations > 0 {
			spread = display.Percent(d.Spread)
		}
		t.Row(d.Kind, seconds(d.ConstantSeconds), seconds(d.PerGiBSeconds), seconds(d.ConstantSeconds+example*d.PerGiBSeconds),
			strconv.Itoa(d.Observations), spread, d.Source)
	}
	return t
}

func seconds(s float64) string { return display.Span(display.Seconds(s)) }

func platformText(p *wire.NodePlatform) string {
	unknown := func(list []string) string {
		if len(list) == 0 {
			return "unknown"
		}
		return strings.Join(list, " ")
	}
	model := p.CPUModel
	if model == "" {
		model = "unknown"
	}
	return fmt.Sprintf("CPU model %s (%s)\nCPU features %s\nmachine types %s", model, p.Arch, unknown(p.CPUFeatures), unknown(p.MachineTypes))
}
