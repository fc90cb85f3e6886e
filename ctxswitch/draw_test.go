package ctxswitch_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
)

// drawProblem makes a small cluster, often tight, sometimes overloaded, with every
// kind of goal, rule and exception.
func drawProblem(t *rapid.T) ctxswitch.Problem {
	p := ctxswitch.Problem{
		Current: cluster.NewConfiguration(),
		Next:    map[cluster.VMID]cluster.Resources{},
		Claims:  map[cluster.NodeID]cluster.Resources{},
		Pinned:  map[cluster.VMID]bool{},
		Live:    map[cluster.VMID]bool{},
		Costs:   ctxswitch.ThesisCosts,
		Seed:    rapid.Uint64().Draw(t, "seed"),
	}
	nodes := drawNodes(t, p)
	// Most draws start viable; the others are as overloaded as chance has it.
	tidy := rapid.IntRange(0, 3).Draw(t, "tidy") > 0
	var vms []cluster.VMID
	for j := range rapid.IntRange(1, 7).Draw(t, "vjobs") {
		vms = append(vms, drawVJob(t, &p, nodes, cluster.VJobID(j+1), tidy)...)
	}
	if rapid.IntRange(0, 2).Draw(t, "network") == 0 {
		p.Network = drawNetwork(t, nodes)
	}
	p.Transfers.Limit = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "transfers")
	if rapid.IntRange(0, 3).Draw(t, "busy") == 0 {
		p.Transfers.Busy = map[cluster.NodeID][]time.Duration{}
		for range rapid.IntRange(0, 3).Draw(t, "under way") {
			id := rapid.SampledFrom(nodes).Draw(t, "busy node")
			p.Transfers.Busy[id] = append(p.Transfers.Busy[id], time.Duration(rapid.IntRange(0, 200_000).Draw(t, "busy for"))*time.Millisecond+1)
		}
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "rules") {
		p.Rules = append(p.Rules, placement.Rules{Text: drawRule(t, vms, nodes)})
	}
	return p
}

// drawNetwork draws links so narrow that transfers get into each other's way.
func drawNetwork(t *rapid.T, nodes []cluster.NodeID) *ctxswitch.Network {
	n := &ctxswitch.Network{NIC: map[cluster.NodeID]cluster.Rate{}, Uplink: map[string]cluster.Rate{}, Label: "rack"}
	rate := func(name string) cluster.Rate {
		return rapid.SampledFrom([]cluster.Rate{0, 125_000_000, 12_500_000, 50_000_000}).Draw(t, name)
	}
	for _, id := range nodes {
		if r := rate("nic"); r > 0 {
			n.NIC[id] = r
		}
	}
	n.Uplink["A"], n.Uplink["B"] = rate("uplink"), rate("uplink")
	n.Dirty = rapid.SampledFrom([]cluster.Rate{0, 0, 1_000_000, 20_000_000}).Draw(t, "dirty")
	return n
}

// drawRule draws any rule that a running cluster can have. Soft ones and those on
// times are among them.
func drawRule(t *rapid.T, vms []cluster.VMID, nodes []cluster.NodeID) string {
	some := func() string {
		return braces(rapid.SliceOfNDistinct(rapid.SampledFrom(vms), 1, min(3, len(vms)), rapid.ID).Draw(t, "rule vms"))
	}
	on := func() string {
		return braces(rapid.SliceOfNDistinct(rapid.SampledFrom(nodes), 1, 2, rapid.ID).Draw(t, "rule nodes"))
	}
	mode := rapid.SampledFrom([]string{"", "", "continuous ", "soft(7) ", "preferred "}).Draw(t, "mode")
	switch rapid.IntRange(0, 13).Draw(t, "rule") {
	case 0, 1:
		return mode + "spread(" + some() + ");"
	case 2, 3:
		return mode + "gather(" + some() + ");"
	case 4, 5:
		return mode + "ban(" + some() + ", " + on() + ");"
	case 6, 7:
		return mode + "fence(" + some() + ", " + on() + ");"
	case 8:
		return mode + "lonely(" + some() + ");"
	case 9:
		return fmt.Sprintf("%scapacity(%s, %d);", mode, on(), rapid.IntRange(0, 5).Draw(t, "most"))
	case 10:
		return fmt.Sprintf("resourceCapacity(%s, memory, %dMiB);", on(), rapid.IntRange(0, 3).Draw(t, "most")*1024)
	case 11:
		return "quarantine(" + on() + ");"
	case 12:
		return "root(" + some() + ");"
	default:
		return fmt.Sprintf("among(%s, $ALL_NODES / 1);", some())
	}
}

func drawNodes(t *rapid.T, p ctxswitch.Problem) []cluster.NodeID {
	var ids []cluster.NodeID
	for i := range rapid.IntRange(2, 6).Draw(t, "nodes") {
		n := cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Labels: map[string]string{"rack": string(rune('A' + i%3))},
			Capacity: cluster.Resources{
				CPU:    cluster.MilliCPU(rapid.IntRange(1, 4).Draw(t, "cpu")) * cluster.CPU,
				Memory: cluster.MiB(rapid.IntRange(1, 4).Draw(t, "memory")) * cluster.GiB,
			},
		}
		n.State = rapid.SampledFrom([]cluster.NodeState{
			cluster.Online, cluster.Online, cluster.Online, cluster.Online, cluster.Online, cluster.Online,
			cluster.Online, cluster.Online, cluster.Online, cluster.Draining, cluster.Draining, cluster.Offline, cluster.Down,
		}).Draw(t, "node state")
		if rapid.IntRange(0, 9).Draw(t, "claimed") == 0 {
			p.Claims[n.ID] = cluster.Resources{CPU: 500, Memory: 512}
		}
		p.Current.SetNode(n)
		ids = append(ids, n.ID)
	}
	return ids
}

func drawVJob(t *rapid.T, p *ctxswitch.Problem, nodes []cluster.NodeID, id cluster.VJobID, tidy bool) (vms []cluster.VMID) {
	state := rapid.SampledFrom([]cluster.VMState{
		cluster.VMRunning, cluster.VMRunning, cluster.VMRunning, cluster.VMWaiting, cluster.VMSleeping, cluster.VMPaused,
	}).Draw(t, "state")
	want := rapid.SampledFrom([]cluster.VMState{
		cluster.VMRunning, cluster.VMRunning, cluster.VMRunning, cluster.VMPaused, cluster.VMSleeping, cluster.VMTerminated,
	}).Draw(t, "want")
	live := rapid.Bool().Draw(t, "live")
	for rank := range rapid.IntRange(1, 3).Draw(t, "members") {
		vm := cluster.VMID{VJob: id, Rank: rank}
		need := cluster.Resources{
			CPU:    cluster.MilliCPU(rapid.IntRange(0, 4).Draw(t, "need cpu")) * 500,
			Memory: cluster.MiB(rapid.IntRange(1, 6).Draw(t, "need memory")) * 256,
		}
		node := rapid.SampledFrom(nodes).Draw(t, "node")
		switch state {
		case cluster.VMRunning:
			if tidy && !need.Fits(p.Current.Free(node).Minus(p.Claims[node])) {
				p.Current.SetWaiting(vm, need)
				break
			}
			p.Current.SetRunning(vm, need, node)
		case cluster.VMPaused:
			if tidy && !need.Paused().Fits(p.Current.Free(node).Minus(p.Claims[node])) {
				p.Current.SetWaiting(vm, need)
				break
			}
			p.Current.SetPaused(vm, need, node)
		case cluster.VMSleeping:
			p.Current.SetSleeping(vm, need, node)
		default:
			p.Current.SetWaiting(vm, need)
		}
		p.Live[vm] = live
		if rapid.IntRange(0, 19).Draw(t, "pinned") == 0 {
			p.Pinned[vm] = true
		}
		if rapid.IntRange(0, 7).Draw(t, "changes") == 0 {
			p.Next[vm] = need.Plus(cluster.Resources{CPU: rapid.SampledFrom([]cluster.MilliCPU{-500, 500}).Draw(t, "next")})
			p.Next[vm] = cluster.Resources{CPU: max(0, p.Next[vm].CPU), Memory: need.Memory}
		}
		vms = append(vms, vm)
	}
	if rapid.IntRange(0, 9).Draw(t, "no goal") > 0 {
		p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: id, Want: want})
	}
	return vms
}

// drawSlots makes a cluster on which vjobs take turns: those that run are to stand
// still or to be saved, those that stand still or sleep are to run.
func drawSlots(t *rapid.T) ctxswitch.Problem {
	p := ctxswitch.Problem{
		Current: cluster.NewConfiguration(), Live: map[cluster.VMID]bool{}, Costs: ctxswitch.ThesisCosts, Seed: 1,
	}
	n := rapid.IntRange(1, 4).Draw(t, "nodes")
	name := func(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprintf("n%d", i%n)) }
	memory := cluster.MiB(rapid.IntRange(3, 8).Draw(t, "memory")) * cluster.GiB
	for i := range n {
		p.Current.SetNode(cluster.Node{ID: name(i), Capacity: cluster.Resources{CPU: 2 * cluster.CPU, Memory: memory}})
	}
	for j := range rapid.IntRange(2, 6).Draw(t, "vjobs") {
		id := cluster.VJobID(j + 1)
		state := rapid.SampledFrom([]cluster.VMState{cluster.VMRunning, cluster.VMPaused, cluster.VMSleeping}).Draw(t, "state")
		want := rapid.SampledFrom([]cluster.VMState{cluster.VMRunning, cluster.VMPaused, cluster.VMSleeping}).Draw(t, "want")
		need := cluster.Resources{CPU: rapid.SampledFrom([]cluster.MilliCPU{500, 1000, 2000}).Draw(t, "cpu"), Memory: cluster.GiB}
		live, first := rapid.Bool().Draw(t, "live"), rapid.IntRange(0, n-1).Draw(t, "first")
		for rank := range rapid.IntRange(1, 3).Draw(t, "members") {
			vm, at := cluster.VMID{VJob: id, Rank: rank}, name(first+rank)
			p.Live[vm] = live
			uses := need
			if state == cluster.VMPaused {
				uses = need.Paused()
			}
			switch fits := uses.Fits(p.Current.Free(at)); {
			case fits && state == cluster.VMPaused:
				p.Current.SetPaused(vm, need, at)
			case fits && state == cluster.VMRunning:
				p.Current.SetRunning(vm, need, at)
			default:
				p.Current.SetSleeping(vm, need, at)
			}
		}
		p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: id, Want: want})
	}
	return p
}

// drawSwaps makes a full cluster in which running vjobs are fenced to other nodes
// than theirs, so that migrations wait for each other in circles.
func drawSwaps(t *rapid.T) ctxswitch.Problem {
	p := ctxswitch.Problem{
		Current: cluster.NewConfiguration(), Live: map[cluster.VMID]bool{},
		Costs: ctxswitch.ThesisCosts, Seed: 1,
	}
	n := rapid.IntRange(2, 5).Draw(t, "nodes")
	name := func(i int) cluster.NodeID { return cluster.NodeID(fmt.Sprintf("n%d", i%n)) }
	for i := range n {
		p.Current.SetNode(cluster.Node{ID: name(i), Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 4 * cluster.GiB}})
	}
	step := rapid.IntRange(1, n-1).Draw(t, "step")
	pair := rapid.IntRange(1, 2).Draw(t, "members")
	live := rapid.IntRange(0, 2).Draw(t, "live")
	for i := range n * 2 {
		vm := cluster.VMID{VJob: cluster.VJobID(i/pair + 1), Rank: i % pair}
		need := cluster.Resources{CPU: 2 * cluster.CPU, Memory: 2 * cluster.GiB}
		if rapid.IntRange(0, 3).Draw(t, "small") == 0 {
			need = cluster.Resources{CPU: cluster.CPU, Memory: cluster.GiB}
		}
		p.Current.SetRunning(vm, need, name(i))
		p.Live[vm] = live > 0
		if rapid.IntRange(0, 4).Draw(t, "moves") > 0 {
			p.Rules = append(p.Rules, placement.Rules{
				Text: "continuous " + call("fence", []cluster.VMID{vm}, []cluster.NodeID{name(i + step)}),
			})
		}
		if i%pair == 0 {
			p.Gangs = append(p.Gangs, ctxswitch.Goal{VJob: vm.VJob, Want: cluster.VMRunning})
		}
	}
	return p
}
