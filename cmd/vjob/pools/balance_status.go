package pools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// balanceStatus shows the balance of the cluster of the daemon.
func balanceStatus(ctx context.Context, a *cli.App) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	now, err := c.Balance(ctx)
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(now)
	}
	return writeBalance(a, &now)
}

func writeBalance(a *cli.App, b *wire.Balance) error {
	state := "on, placement " + b.Placement
	if !b.Enabled {
		state = "off (balance.when in the settings)"
	}
	if _, err := fmt.Fprintf(a.Out, "balance    %s\n", state); err != nil || !b.Enabled {
		return err
	}
	if b.At == nil {
		_, err := fmt.Fprintln(a.Out, "searched   not yet")
		return err
	}
	_, err := fmt.Fprintf(a.Out, "searched   %s, next %s\nimbalance  %.3f → %.3f: %s\nmoved      %s since the daemon was started\n\n",
		display.Moment(b.At), display.Moment(b.NextAt), b.Imbalance, b.ImbalanceAfter, display.Clean(b.Why), cluster.Count(b.VMsMoved, "VM"))
	if err != nil {
		return err
	}
	if err := writeLoads(a, b.Nodes); err != nil {
		return err
	}
	if err := writeMoves(a, "moves of the last search", b.Moves); err != nil {
		return err
	}
	return writeMoves(a, "moves that wait for approval (vjob recommendations)", b.Waiting)
}

// writeLoads writes the loads of the nodes; those of their links only if one is known.
func writeLoads(a *cli.App, nodes []wire.NodeLoad) error {
	heads, links := "NODE >CPU >AFTER >MEMORY >AFTER STAYS_CROWDED", slices.ContainsFunc(nodes, func(n wire.NodeLoad) bool { return n.Network != nil })
	if links {
		heads = "NODE >CPU >AFTER >MEMORY >AFTER >NETWORK >AFTER STAYS_CROWDED"
	}
	t := &display.Table{Heads: display.Heads(heads)}
	for i := range nodes {
		n := &nodes[i]
		row := []string{n.Node, percent(n.CPU), percent(n.CPUAfter), percent(n.Memory), percent(n.MemoryAfter)}
		if links {
			row = append(row, known(n.Network), known(n.NetworkAfter))
		}
		t.Row(append(row, display.Clean(cmp.Or(n.Held, "-")))...)
	}
	return t.Write(a.Out, a.Width())
}

// known returns a load in percent, or "-" if it is unknown.
func known(load *float64) string {
	if load == nil {
		return "-"
	}
	return percent(*load)
}

// writeMoves writes a title and a table of moves, or nothing without any.
func writeMoves(a *cli.App, title string, list []wire.BalanceMove) error {
	if len(list) == 0 {
		return nil
	}
	moves := &display.Table{Heads: display.Heads("VM FROM TO >GAIN >BENEFIT >COST AFTER REASON")}
	for i := range list {
		m := &list[i]
		after := "-"
		for k, before := range m.After {
			if k == 0 {
				after = ""
			}
			after = strings.TrimPrefix(after+" "+list[before].VM, " ")
		}
		moves.Row(m.VM, m.From, m.To, strconv.FormatFloat(m.Gain, 'f', 4, 64), fmt.Sprintf("%.0f CPU·s", m.BenefitSeconds), fmt.Sprintf("%.0f CPU·s", m.CostSeconds),
			after, display.Clean(m.Reason))
	}
	if _, err := fmt.Fprintf(a.Out, "\n%s\n", title); err != nil {
		return err
	}
	return moves.Write(a.Out, a.Width())
}
