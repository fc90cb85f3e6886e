package pools

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/document"
	"vjob/queue/pool"
)

func entitleCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "entitle FILE",
		Short: "show what the pools and VMs of a file are entitled to",
		Long: `Divides the CPU and the memory of the cluster in a YAML or JSON file among its pools, and what each pool
gets among its VMs: at least the reservation, at most the limit, and otherwise by shares; what is
not demanded goes to others. docs/reference/pool-files.md describes the file.

Exit codes: 0 done, 2 the file is wrong.`,
		Example: "  vjob pools entitle examples/pools/two-groups.yaml",
		Args:    cli.Arguments(1, "a file, or - for the standard input"),
		RunE:    func(_ *cobra.Command, args []string) error { return entitle(a, args[0]) },
	}
}

// Entitled is the JSON of `vjob pools entitle -o json`.
type Entitled struct {
	Pools []Entitlement `json:"pools"`
	VMs   []Entitlement `json:"vms"`
}

// Entitlement is what a pool or a VM demands and gets, within its reservation and limit.
type Entitlement struct {
	Name         string `json:"name"`
	Pool         string `json:"pool,omitempty"`
	CPUDemand    int64  `json:"cpu_demand_milli"`
	CPU          int64  `json:"cpu_milli"`
	MemoryDemand int64  `json:"memory_demand_mib"`
	Memory       int64  `json:"memory_mib"`
	depth        int
	controls     [2]pool.Controls
}

func entitle(a *cli.App, path string) error {
	var rows []row
	err := a.ReadFrom("FILE", path, func(in io.Reader, name string) error {
		data, err := document.ReadFrom(name, in)
		if err == nil {
			rows, err = read(name, data)
		}
		return err
	})
	if err != nil {
		return err
	}
	list, err := divide(rows)
	if err != nil {
		return err
	}
	if a.JSON() {
		return cli.PrintJSON(a.Out, asJSON(rows, list), true)
	}
	return entitledTable(list).Write(a.Out, a.Width())
}

// divide divides both resources among the rows.
func divide(rows []row) ([]Entitlement, error) {
	list := make([]Entitlement, len(rows))
	for k := range list[0].controls {
		entries := make([]pool.Entry, len(rows))
		for i := range rows {
			entries[i] = pool.Entry{Parent: rows[i].parent, VM: rows[i].vm, Controls: rows[i].of[k].controls}
		}
		t, err := pool.New(entries)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rows[i].vm {
				t.SetDemand(i, rows[i].of[k].demand)
			}
		}
		t.Divide(entries[0].Limit)
		for i := range rows {
			e := &list[i]
			e.Name, e.depth, e.controls[k] = rows[i].name, rows[i].depth, entries[i].Controls
			if k == 0 {
				e.CPUDemand, e.CPU = t.Demand(i), t.Entitlement(i)
			} else {
				e.MemoryDemand, e.Memory = t.Demand(i), t.Entitlement(i)
			}
			if p := rows[i].parent; p > 0 {
				e.Pool = rows[p].name
			}
		}
	}
	return list, nil
}

func asJSON(rows []row, list []Entitlement) Entitled {
	out := Entitled{Pools: []Entitlement{}, VMs: []Entitlement{}}
	for i := range list {
		if rows[i].vm {
			out.VMs = append(out.VMs, list[i])
		} else {
			out.Pools = append(out.Pools, list[i])
		}
	}
	return out
}

func entitledTable(list []Entitlement) *display.Table {
	t := &display.Table{Heads: display.Heads("NAME >CPU_RESERVED >CPU_LIMIT >SHARES >DEMAND >CPU >MEM_RESERVED >MEM_LIMIT >SHARES >DEMAND >MEMORY")}
	for i := range list {
		e := &list[i]
		cells := []string{strings.Repeat("  ", e.depth) + e.Name}
		for k, of := range []struct {
			show          func(int64) string
			demand, given int64
		}{{display.CPU, e.CPUDemand, e.CPU}, {display.MiB, e.MemoryDemand, e.Memory}} {
			c := e.controls[k]
			limit := "-"
			if c.Limit != pool.Unlimited {
				limit = of.show(c.Limit)
			}
			cells = append(cells, of.show(c.Reservation), limit, strconv.FormatInt(c.Shares, 10), of.show(of.demand), of.show(of.given))
		}
		t.Row(cells...)
	}
	return t
}
