package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "mostlySpread", Doc: "the VMs on at least min nodes, or if fewer run on one each",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "min", Type: Number}},
	Modes:  Discrete,
	make: func(b base) repack.Rule {
		return &mostlySpread{base: b, vms: b.args.vms(), least: b.args.number("min")}
	},
})

type mostlySpread struct {
	base
	vms   []int
	least int64
}

// Check reports how many nodes are missing.
func (m *mostlySpread) Check(t *repack.Timeline) []repack.Breach {
	hosts, run := map[int]bool{}, int64(0)
	for _, vm := range m.vms {
		if n, runs := t.Runs(vm); runs {
			hosts[n] = true
			run++
		}
	}
	want, have := min(m.least, run), int64(len(hosts))
	if have >= want {
		return nil
	}
	return []repack.Breach{tooMuch(want, have, fmt.Sprintf("%d VMs end on %d nodes", run, have))}
}

// Post counts the nodes in use.
func (m *mostlySpread) Post(b repack.ConstraintStore) {
	b.Guard(&mostlySpreadGuard{on: newTally(len(m.vms)), least: int(m.least)}, repack.Scope{VMs: m.vms})
}

// mostlySpreadGuard counts the nodes that are missing.
type mostlySpreadGuard struct {
	on    tally
	run   int
	least int
}

func (g *mostlySpreadGuard) Delta(_, from, to int) int {
	if from == to {
		return 0
	}
	run, used := g.run, g.on.used
	if from != repack.Nowhere {
		run--
		if g.on.get(from) == 1 {
			used--
		}
	}
	if to != repack.Nowhere {
		run++
		if g.on.get(to) == 0 {
			used++
		}
	}
	return max(0, min(g.least, run)-used) - max(0, min(g.least, g.run)-g.on.used)
}

func (g *mostlySpreadGuard) Move(_, from, to int) {
	if from != repack.Nowhere {
		g.run--
	}
	if to != repack.Nowhere {
		g.run++
	}
	g.on.move(from, to)
}
