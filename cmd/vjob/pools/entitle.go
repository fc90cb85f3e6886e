package pools

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cluster"
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
	Name         string           `json:"name"`
	Pool         string           `json:"pool,omitempty"`
	CPUDemand    cluster.MilliCPU `json:"cpu_demand_milli"`
	CPU          cluster.MilliCPU `json:"cpu_milli"`
	MemoryDemand cluster.MiB      `json:"memory_demand_mib"`
	Memory       cluster.MiB      `json:"memory_mib"`
}

func entitle(a *cli.App, path string) error {
	var p *problem
	err := a.ReadFrom("FILE", path, func(in io.Reader, name string) error {
		data, err := document.ReadFrom(name, in)
		if err == nil {
			p, err = read(name, data)
		}
		return err
	})
	if err != nil {
		return err
	}
	list := p.hierarchy.Divide(func(vm int) cluster.Resources { return p.demand[vm] })
	if a.Structured() {
		return a.Print(asJSON(p.hierarchy.Members(), list))
	}
	return entitledTable(p.hierarchy.Members(), list).Write(a.Out, a.Width())
}

func asJSON(members []pool.Member, list []pool.Entitlement) Entitled {
	out := Entitled{Pools: []Entitlement{}, VMs: []Entitlement{}}
	for _, i := range treeOrder(members) {
		m, e := &members[i], &list[i]
		line := Entitlement{Name: m.Name, CPUDemand: e.Demand.CPU, CPU: e.Given.CPU, MemoryDemand: e.Demand.Memory, Memory: e.Given.Memory}
		if m.Parent > 0 {
			line.Pool = members[m.Parent].Name
		}
		if m.VM {
			out.VMs = append(out.VMs, line)
		} else {
			out.Pools = append(out.Pools, line)
		}
	}
	return out
}

// treeOrder returns the members as a tree is printed: each pool before what is in it, VMs before pools.
func treeOrder(members []pool.Member) []int {
	children := make([][]int, len(members))
	for _, vms := range []bool{true, false} {
		for i := range members {
			if m := &members[i]; m.VM == vms && m.Parent >= 0 {
				children[m.Parent] = append(children[m.Parent], i)
			}
		}
	}
	order := make([]int, 0, len(members))
	var visit func(i int)
	visit = func(i int) {
		order = append(order, i)
		for _, c := range children[i] {
			visit(c)
		}
	}
	visit(0)
	return order
}

func entitledTable(members []pool.Member, list []pool.Entitlement) *display.Table {
	t := &display.Table{Heads: display.Heads("NAME >CPU_RESERVED >CPU_LIMIT >SHARES >DEMAND >CPU >MEM_RESERVED >MEM_LIMIT >SHARES >DEMAND >MEMORY")}
	for _, i := range treeOrder(members) {
		m, e := &members[i], &list[i]
		cells := []string{strings.Repeat("  ", m.Depth) + m.Name}
		for _, of := range []struct {
			show                    func(int64) string
			controls                pool.Controls
			reserved, demand, given int64
		}{
			{display.CPU, m.CPU, int64(m.Reserved.CPU), int64(e.Demand.CPU), int64(e.Given.CPU)},
			{display.MiB, m.Memory, int64(m.Reserved.Memory), int64(e.Demand.Memory), int64(e.Given.Memory)},
		} {
			limit := "-"
			if of.controls.Limit != pool.Unlimited {
				limit = of.show(of.controls.Limit)
			}
			cells = append(cells, of.show(of.reserved), limit, strconv.FormatInt(of.controls.Shares, 10), of.show(of.demand), of.show(of.given))
		}
		t.Row(cells...)
	}
	return t
}
