package admin

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func showNodeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show NODE",
		Short: "show one node: its state and load, and what VMs can be on it",
		Long: `Shows one node: its state, what is used of it, its VMs, and the CPU model and machine types that it offers.
A VM comes only to nodes that offer the machine type and the CPU features that it was booted with.`,
		Args: cli.Arguments(1, "the name of a node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			n, err := c.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.JSON() {
				return cli.PrintJSON(a.Out, n, true)
			}
			return writeNode(a.Out, &n)
		},
	}
}

// writeNode lists the facts about a node.
func writeNode(w io.Writer, n *wire.NodeDetail) error {
	list := [][2]string{
		{"node", n.Name},
		{"state", display.NodeState(&n.Node)},
		{"CPU", display.CPU(n.UsedCPUMilli) + " of " + display.CPU(n.CPUMilli) + " used"},
		{"memory", display.MiB(n.UsedMemoryMiB) + " of " + display.MiB(n.MemoryMiB) + " used"},
		{"VMs", display.Dash(strings.Join(n.VMs, " "))},
	}
	if problem := display.NodeProblem(&n.Node); problem != display.Dash("") {
		list = append(list, display.Passage("problem", problem)...)
	}
	for i := range n.Platforms {
		p := &n.Platforms[i]
		list = append(list, display.Passage(p.Type, platformText(p))...)
	}
	if len(n.Platforms) == 0 {
		list = append(list, [2]string{"platform", "unknown: VMs come here unchecked"})
	}
	var b strings.Builder
	display.Facts(&b, list)
	_, err := io.WriteString(w, b.String())
	return err
}

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
