package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// maxLoadLines bounds the nodes in the table of figures.
const maxLoadLines = 8

// comparison is the table of figures before and after.
type comparison struct {
	*display.Table
	clock func(t *time.Time) string
}

// figuresTable compares the figures before and after: totals, and what changes.
func figuresTable(now, then *wire.WhatIfFigures, at time.Time) *display.Table {
	c := &comparison{Table: &display.Table{Heads: display.Heads("FIGURE NOW THEN")}}
	c.clock = func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return cluster.Clock(*t, at)
	}
	c.total("vjobs", vjobCounts(now), vjobCounts(then))
	c.total("nodes for VMs", strconv.Itoa(now.Nodes), strconv.Itoa(then.Nodes))
	c.total("CPU demand", demandText(now), demandText(then))
	c.total("imbalance", figure(now.Imbalance), figure(then.Imbalance))
	c.balancing(now.Balancing, then.Balancing)
	c.loads(now.Loads, then.Loads)
	c.power(now.Power, then.Power)
	c.pools(now.Pools, then.Pools)
	c.waits(&now.Waits, &then.Waits)
	return c.Table
}

// total adds a line.
func (c *comparison) total(name, now, then string) { c.Row(name, now, then) }

// changed adds a line if both sides differ.
func (c *comparison) changed(name, now, then string) {
	if now != then {
		c.Row(name, now, then)
	}
}

func figure(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

func vjobCounts(f *wire.WhatIfFigures) string {
	parts := []string{fmt.Sprintf("%d running", f.Running), fmt.Sprintf("%d waiting", f.Waiting)}
	if f.Suspended > 0 {
		parts = append(parts, fmt.Sprintf("%d suspended", f.Suspended))
	}
	return strings.Join(parts, ", ")
}

func demandText(f *wire.WhatIfFigures) string {
	text := display.CPU(f.Demand) + " of " + display.CPU(f.CPU)
	if f.Demand > f.Served {
		text += ", " + display.CPU(f.Served) + " served"
	}
	return text
}

func (c *comparison) balancing(now, then *wire.WhatIfBalancing) {
	text := func(b *wire.WhatIfBalancing) string {
		switch {
		case b == nil:
			return "-"
		case len(b.Moves) == 0:
			return "no moves"
		default:
			return fmt.Sprintf("%s after %s, %s", figure(b.Imbalance), cluster.Count(len(b.Moves), "move"), display.Span(display.Seconds(b.Makespan)))
		}
	}
	c.changed("  balanced", text(now), text(then))
}

// loads adds the nodes with another load, the most loaded ones of both sides.
func (c *comparison) loads(now, then []wire.WhatIfLoad) {
	text := func(l wire.WhatIfLoad) string {
		if l.Node == "" {
			return "-"
		}
		return "CPU " + percent(l.CPU) + ", memory " + percent(l.Memory)
	}
	c.total("most loaded node", mostLoaded(now), mostLoaded(then))
	before, after := byNode(now), byNode(then)
	all := maps.Clone(before)
	maps.Copy(all, after)
	var changing []string
	for node := range all {
		if text(before[node]) != text(after[node]) {
			changing = append(changing, node)
		}
	}
	load := func(node string) float64 {
		return max(before[node].CPU, before[node].Memory, after[node].CPU, after[node].Memory)
	}
	slices.SortFunc(changing, func(x, y string) int {
		switch a, b := load(x), load(y); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return strings.Compare(x, y)
	})
	shown := changing[:min(len(changing), maxLoadLines)]
	for _, node := range shown {
		c.Row("  "+node, text(before[node]), text(after[node]))
	}
	if more := len(changing) - len(shown); more > 0 {
		c.Row(fmt.Sprintf("  %d more nodes", more), "", "")
	}
}

func byNode(list []wire.WhatIfLoad) map[string]wire.WhatIfLoad {
	index := make(map[string]wire.WhatIfLoad, len(list))
	for _, l := range list {
		index[l.Node] = l
	}
	return index
}

func mostLoaded(list []wire.WhatIfLoad) string {
	if len(list) == 0 {
		return "-"
	}
	return list[0].Node + ", " + percent(max(list[0].CPU, list[0].Memory))
}

func (c *comparison) power(now, then *wire.WhatIfPower) {
	if now == nil || then == nil {
		return
	}
	text := func(p *wire.WhatIfPower) string {
		if p.Unknown > 0 {
			return fmt.Sprintf("%s, %s without a model", display.Watts(p.Watts), cluster.Count(p.Unknown, "node"))
		}
		return display.Watts(p.Watts)
	}
	c.total("power", text(now), text(then))
	budgets := func(p *wire.WhatIfPower) map[string]string {
		list := map[string]string{}
		for _, b := range p.Budgets {
			list[b.Group] = display.Watts(b.Drawn) + " of " + display.Watts(b.Most)
			if b.Drawn > b.Most {
				list[b.Group] += ", too much"
			}
		}
		return list
	}
	before, after := budgets(now), budgets(then)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, group := range slices.Sorted(maps.Keys(all)) {
		name := "  budget"
		if group != "" {
			name += " of " + group
		}
		c.changed(name, display.Dash(before[group]), display.Dash(after[group]))
	}
}

// pools adds the pools of which the demand or the entitlement changes, in the order of the tree afterwards.
func (c *comparison) pools(now, then []wire.WhatIfUse) {
	before, after := map[string]string{}, map[string]string{}
	var order []wire.WhatIfUse
	for i := range then {
		after[then[i].Pool] = poolText(&then[i])
		order = append(order, then[i])
	}
	for i := range now {
		before[now[i].Pool] = poolText(&now[i])
		if after[now[i].Pool] == "" {
			order = append(order, now[i])
		}
	}
	for _, p := range order {
		name := "pool " + p.Pool
		if p.Depth == 0 {
			name = "all pools"
		}
		c.changed(name, display.Dash(before[p.Pool]), display.Dash(after[p.Pool]))
	}
}

func poolText(p *wire.WhatIfUse) string {
	if p.Demand == 0 {
		return "no demand"
	}
	return fmt.Sprintf("%s of %s CPU, %s", display.CPU(p.Entitlement), display.CPU(p.Demand), percent(p.Satisfied))
}

func (c *comparison) waits(now, then *wire.WhatIfWaits) {
	mean := func(w *wire.WhatIfWaits) string {
		if w.Known == 0 {
			return "-"
		}
		return fmt.Sprintf("%s (%s)", display.Span(display.Seconds(w.Mean)), cluster.Count(w.Known, "vjob"))
	}
	c.changed("mean wait", mean(now), mean(then))
	c.changed("latest start", c.clock(now.Latest), c.clock(then.Latest))
	c.changed("start unknown", cluster.Count(now.Unknown, "vjob"), cluster.Count(then.Unknown, "vjob"))
}
