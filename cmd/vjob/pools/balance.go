package pools

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/document"
	"vjob/scheduler/balance"
)

// BalanceCommand is `vjob balance`.
func BalanceCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "balance [FILE]",
		Short: "show how evenly the nodes are loaded, or which moves would balance those of a file",
		Long: `Without a file: the load of each node of the cluster, the moves of the last search, and what holds VMs on crowded nodes
(administrators).

With a file: computes the entitlements of the VMs in a YAML or JSON file, the imbalance of its nodes, and the moves
that one round of balancing makes: each with its benefit, its cost and its reason. For each node that stays
loaded it says what holds its VMs back. Nothing is moved. docs/reference/pool-files.md describes the file.

Exit codes: 0 done, 2 the file is wrong.`,
		Example: "  vjob balance\n  vjob balance examples/pools/balance.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return balanceStatus(cmd.Context(), a)
			}
			return balanceFile(a, args[0])
		},
	}
}

func balanceFile(a *cli.App, path string) error {
	var s *scene
	err := a.ReadFrom("FILE", path, func(in io.Reader, name string) error {
		data, err := document.ReadFrom(name, in)
		if err == nil {
			s, err = readScene(name, data)
		}
		return err
	})
	if err != nil {
		return err
	}
	r, err := s.settings.Round(s.cluster)
	if err != nil {
		return err
	}
	out := s.balanced(r)
	if a.Structured() {
		return a.Print(out)
	}
	return out.write(a)
}

// write prints the round as tables.
func (b *Balanced) write(a *cli.App) error {
	if err := b.nodeTable().Write(a.Out, a.Width()); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Out, "\nimbalance %.3f → %.3f: %s\n", b.Imbalance.Before.Total, b.Imbalance.After.Total, b.Why); err != nil {
		return err
	}
	for _, part := range []struct {
		head string
		*display.Table
	}{
		{"moves", b.moveTable()},
		{"VMs that cannot leave", b.refusalTable(b.Stranded)},
		{"nodes that stay loaded", b.heldTable()},
		{"refused moves", b.refusalTable(b.Refused)},
	} {
		if len(part.Rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "\n%s\n", part.head); err != nil {
			return err
		}
		if err := part.Write(a.Out, a.Width()); err != nil {
			return err
		}
	}
	return nil
}

func (b *Balanced) nodeTable() *display.Table {
	t := &display.Table{Heads: display.Heads("NODE")}
	for _, r := range b.resources {
		t.Heads = append(t.Heads, display.Heads(">"+strings.ToUpper(r.String())+" >AFTER")...)
	}
	for i := range b.Nodes {
		row := []string{b.Nodes[i].Name}
		for _, r := range b.resources {
			l := b.Nodes[i].of(r)
			row = append(row, percent(l.Before), percent(l.After))
		}
		t.Row(row...)
	}
	before, after := []string{"deviation"}, []string{"variation"}
	for _, r := range b.resources {
		from, to := b.Imbalance.Before.of(r), b.Imbalance.After.of(r)
		before = append(before, fmt.Sprintf("%.3f", from.Deviation), fmt.Sprintf("%.3f", to.Deviation))
		after = append(after, fmt.Sprintf("%.2f", from.Variation), fmt.Sprintf("%.2f", to.Variation))
	}
	t.Row(before...)
	t.Row(after...)
	return t
}

func percent(load float64) string { return fmt.Sprintf("%.0f %%", 100*load) }

func (b *Balanced) moveTable() *display.Table {
	t := &display.Table{Heads: display.Heads("> VM FROM TO >GAIN >BENEFIT >COST >TAKES AFTER REASON")}
	t.Heads[0].Name = ""
	for i := range b.Moves {
		m := &b.Moves[i]
		after := make([]string, len(m.After))
		for k, n := range m.After {
			after[k] = strconv.Itoa(n)
		}
		t.Row(strconv.Itoa(m.Number), strings.Join(m.VMs, " "), m.From, m.To, fmt.Sprintf("%.4f", m.Gain), m.Benefit.String(), m.Cost.String(),
			display.Span(time.Duration(m.Takes*float64(time.Second)).Round(100*time.Millisecond)), strings.Join(after, " "), m.Reason)
	}
	return t
}

func (b *Balanced) heldTable() *display.Table {
	t := &display.Table{Heads: display.Heads("NODE WHY")}
	for i := range b.Held {
		t.Row(b.Held[i].Node, b.Held[i].Why)
	}
	return t
}

func (b *Balanced) refusalTable(list []Refused) *display.Table {
	t := &display.Table{Heads: display.Heads("VM FROM TO >GAIN >BENEFIT >COST REASON")}
	for i := range list {
		r := &list[i]
		if r.To == "" {
			t.Row(r.VM, r.From, "-", "-", "-", "-", r.Reason)
			continue
		}
		t.Row(r.VM, r.From, r.To, fmt.Sprintf("%.4f", r.Gain), r.Benefit.String(), r.Cost.String(), r.Reason)
	}
	return t
}

// String is the amount of CPU and memory over time.
func (e Effort) String() string {
	return fmt.Sprintf("%.0f CPU·s %.1f GiB·s", e.CPU/1000, e.Memory/1024)
}

// names are the names of VMs.
func names(c *balance.Cluster, vms []int) []string {
	list := make([]string, len(vms))
	for i, vm := range vms {
		list[i] = c.VMs[vm].Name
	}
	return list
}
