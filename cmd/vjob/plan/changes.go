package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/daemon/settings"
	"vjob/internal/document"
	"vjob/internal/pattern"
	"vjob/queue/pool"
)

// readChanges reads added nodes, demands and pools.
func (f *whatIfFlags) readChanges(a *cli.App, w *wire.WhatIf) error {
	for _, text := range f.add {
		nodes, err := newNodes(text)
		if err != nil {
			return err
		}
		w.Add = append(w.Add, nodes...)
	}
	for _, text := range f.demand {
		change, err := demandChange(text)
		if err != nil {
			return err
		}
		w.Demand = append(w.Demand, change)
	}
	if f.pools == "" {
		return nil
	}
	data, err := a.ReadInput(f.pools)
	if err != nil {
		return cluster.BadField("--pools", f.pools, "a file with pools: "+err.Error())
	}
	list, err := readPools(f.pools, data)
	if err != nil {
		return err
	}
	w.Pools = &list
	return nil
}

// readPools reads the pools of a file as settings have them.
func readPools(name string, data []byte) ([]wire.WhatIfPool, error) {
	var file struct {
		Pools []pool.PoolStatement `json:"pools"`
	}
	doc, err := document.Decode(name, data, &file)
	if err != nil {
		return nil, err
	}
	if _, err := pool.ReadPools(file.Pools); err != nil {
		return nil, doc.Locate(err)
	}
	list := make([]wire.WhatIfPool, len(file.Pools))
	for i, p := range file.Pools {
		list[i] = wire.WhatIfPool{Name: p.Name, Parent: p.Parent, CPU: wire.PoolControls(p.CPU), Memory: wire.PoolControls(p.Memory)}
	}
	return list, nil
}

var counted = pattern.New(`^([0-9]+)x(.+)$`)

// newNodes reads "n4=n1", "n[4-6]=n1" or "2xn1".
func newNodes(text string) (list []wire.WhatIfNodes, err error) {
	const want = "new nodes and the one that they are like, such as n4=n1, n[4-6]=n1 or 2xn1"
	if name, like, named := strings.Cut(text, "="); named {
		names := settings.ExpandRange(name)
		for _, n := range names {
			list = append(list, wire.WhatIfNodes{Name: n, Like: like})
		}
		if len(names) == 0 || name == "" || like == "" {
			return nil, cluster.BadField("--add", text, want)
		}
		return list, nil
	}
	match := counted().FindStringSubmatch(text)
	if match == nil {
		return nil, cluster.BadField("--add", text, want)
	}
	n, err := strconv.Atoi(match[1])
	if err != nil || n < 1 {
		return nil, cluster.BadField("--add", text, "a number of nodes from 1 on, such as 2xn1")
	}
	return []wire.WhatIfNodes{{Count: n, Like: match[2]}}, nil
}

// demandChange reads "all=+30%", "pool:physics=-20%", "owner:ann=+50%" or "vjob:12=2.5".
func demandChange(text string) (w wire.WhatIfDemand, err error) {
	target, change, both := strings.Cut(text, "=")
	if !both {
		return w, cluster.BadField("--demand", text, "vjobs and their demand, such as pool:physics=+30% or vjob:12=2.5")
	}
	if err := demandOf(target, &w); err != nil {
		return w, err
	}
	number, relative := strings.CutSuffix(change, "%")
	number = strings.TrimSpace(number)
	signed := strings.HasPrefix(number, "+") || strings.HasPrefix(number, "-")
	switch {
	case relative && !signed:
		return w, cluster.Fault("--demand", "%q has no sign: write +%s%% for so much more, -%s%% for less, or the CPU of each VM without a percent sign", change, number, number)
	case !relative && signed:
		return w, cluster.Fault("--demand", "%q has no unit: a change is in percent, such as +30%%; the CPU of each VM has no sign, such as 2.5", change)
	case !relative:
		cpu, err := cluster.ParseCPU(change)
		if err != nil {
			return w, cluster.BadField("--demand", change, "a change in percent, such as +30%, or the CPU of each VM, such as 2.5 or 500m")
		}
		milli := int64(cpu)
		w.CPUMilli = &milli
		return w, nil
	}
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) {
		return w, cluster.BadField("--demand", change, "a change in percent, such as +30% or -20%")
	}
	if percent < -100 {
		return w, cluster.Fault("--demand", "%q leaves less than nothing: want at least -100%%", change)
	}
	w.Percent = &percent
	return w, nil
}

// demandOf reads which vjobs a change of demand concerns.
func demandOf(target string, w *wire.WhatIfDemand) error {
	kind, name, named := strings.Cut(target, ":")
	if !named && target == "all" {
		w.All = true
		return nil
	}
	if !named || name == "" {
		hint := "pool:" + target
		if _, err := strconv.ParseInt(target, 10, 64); err == nil {
			hint = "vjob:" + target
		}
		return cluster.Fault("--demand", "%q does not say of what kind it is: want all, pool:NAME, owner:NAME or vjob:VJOB, such as %s", target, hint)
	}
	switch kind {
	case "pool":
		w.Pool = name
	case "owner":
		w.Owner = name
	case "vjob":
		w.VJob = wire.VJobName(name)
	default:
		return cluster.BadField("--demand", target, fmt.Sprintf("all, pool:NAME, owner:NAME or vjob:VJOB: there is no kind %q", kind))
	}
	return nil
}
