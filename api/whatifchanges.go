package api

import (
	"context"
	"fmt"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// Bounds of hypothetical changes.
const (
	maxNewNodes = 1000
	maxPercent  = 10_000
)

// addChanges reads added nodes, demands and pools.
func (h *forecastHandler) addChanges(ctx context.Context, caller Subject, w *wire.WhatIf, out *scheduler.WhatIf) error {
	var faults cluster.Faults
	faults.Add(addNewNodes(w, out))
	for i := range w.Demand {
		change, err := demandChange(&w.Demand[i])
		if name := string(w.Demand[i].VJob); err == nil && name != "" {
			change.VJob, err = h.submissions.finder.vjobOf(ctx, caller, "vjob", name)
			err = unknownField("vjob", name, err)
		}
		faults.Add(cluster.WithPath(fmt.Sprintf("demand[%d]", i), err))
		out.Demand = append(out.Demand, change)
	}
	if w.Pools == nil {
		return faults.Err()
	}
	pools := make([]pool.PoolStatement, len(*w.Pools))
	for i, p := range *w.Pools {
		pools[i] = pool.PoolStatement{
			Name: p.Name, Parent: p.Parent, Statement: pool.Statement{CPU: pool.Stated(p.CPU), Memory: pool.Stated(p.Memory)},
		}
	}
	_, err := pool.ReadPools(pools)
	faults.Add(err)
	out.Pools = &pools
	return faults.Err()
}

func addNewNodes(w *wire.WhatIf, out *scheduler.WhatIf) error {
	var faults cluster.Faults
	named := map[string]bool{}
	for i, n := range w.Add {
		field := fmt.Sprintf("add[%d].", i)
		if err := checkNewNode(field, &n, named[n.Name], maxNewNodes-len(out.Add)); err != nil {
			faults.Add(err)
			continue
		}
		named[n.Name] = n.Name != ""
		for range max(1, n.Count) {
			out.Add = append(out.Add, decide.NewNode{Name: cluster.NodeID(n.Name), Like: cluster.NodeID(n.Like)})
		}
	}
	if len(out.Add) > maxNewNodes {
		faults.Add(cluster.Fault("add", "%d nodes, at most %d can be added", len(out.Add), maxNewNodes))
	}
	return faults.Err()
}

// checkNewNode checks nodes to add; taken: another one has the name.
func checkNewNode(field string, n *wire.WhatIfNodes, taken bool, most int) error {
	switch {
	case !cluster.IsName(n.Like):
		return cluster.BadField(field+"like", n.Like, "the name of an existing node")
	case n.Name != "" && (!cluster.IsName(n.Name) || taken):
		return cluster.BadField(field+"name", n.Name, "the name of a new node, once")
	case n.Name != "" && n.Count != 0:
		return cluster.Fault(field+"count", "excludes name: add a node with a name, or a number of nodes without")
	case n.Count < 0 || n.Count > most:
		return cluster.BadField(field+"count", n.Count, fmt.Sprintf("a number from 1 to %d, of all new nodes together", maxNewNodes))
	}
	return nil
}

func demandChange(w *wire.WhatIfDemand) (c decide.DemandChange, err error) {
	selected := 0
	for _, some := range []bool{w.VJob != "", w.Owner != "", w.Pool != "", w.All} {
		if some {
			selected++
		}
	}
	switch {
	case selected != 1:
		return c, cluster.Fault("vjob", "%d of vjob, owner, pool and all are given: give one", selected)
	case w.Pool != "" && !cluster.IsName(w.Pool):
		return c, cluster.BadField("pool", w.Pool, "the name of a pool")
	case w.Percent == nil && w.CPUMilli == nil:
		return c, cluster.Fault("percent", "missing: give percent, or cpu_milli")
	case w.Percent != nil && w.CPUMilli != nil:
		return c, cluster.Fault("percent", "excludes cpu_milli: give one of them")
	case w.Percent != nil && !(*w.Percent >= -100 && *w.Percent <= maxPercent):
		return c, cluster.BadField("percent", *w.Percent, fmt.Sprintf("a change from -100 to %d percent", maxPercent))
	case w.CPUMilli != nil && (*w.CPUMilli < 0 || *w.CPUMilli > maxCPUMilli):
		return c, cluster.BadField("cpu_milli", *w.CPUMilli, fmt.Sprintf("a number from 0 to %d", maxCPUMilli))
	}
	c = decide.DemandChange{Owner: w.Owner, Pool: w.Pool}
	if w.CPUMilli != nil {
		c.CPU = cluster.MilliCPU(*w.CPUMilli)
		return c, nil
	}
	factor := 1 + *w.Percent/100
	c.Factor = &factor
	return c, nil
}
