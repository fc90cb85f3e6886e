package consolidate

import (
	"cmp"
	"math"
	"slices"
)

// A subset has up to maxNodes nodes, or as many as have maxVMs VMs: half of them the most
// useful to empty, half the best destinations.
const (
	maxNodes = 32
	maxVMs   = 384
	minNodes = 4
)

// width is the number of nodes of a subset.
func (p *Problem) width() int {
	return min(maxNodes, max(minNodes, maxVMs*len(p.Nodes)/max(1, len(p.VMs))))
}

// subset returns the nodes of a turn, sorted, and the number of turns.
func (p *Problem) subset(turn int, guests [][]int, loads []float64) (nodes []int, turns int) {
	width := p.width()
	if len(p.Nodes) <= width {
		return p.all(), 1
	}
	givers, block := p.sources(guests, loads), width/2
	turns = max(1, (len(givers)+block-1)/block)
	first := turn % turns * block
	nodes = slices.Clone(givers[min(first, len(givers)):min(first+block, len(givers))])
	for _, n := range p.destinations(guests, loads) {
		if len(nodes) == width {
			break
		}
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes, turns
}

func (p *Problem) all() []int {
	list := make([]int, len(p.Nodes))
	for n := range list {
		list[n] = n
	}
	return list
}

// sources returns the nodes that could save power with less load, the largest saving first.
func (p *Problem) sources(guests [][]int, loads []float64) []int {
	flattest := math.Inf(1)
	for n := range p.Nodes {
		flattest = min(flattest, p.Nodes[n].slope())
	}
	gain := make([]float64, len(p.Nodes))
	for n := range p.Nodes {
		node, free := &p.Nodes[n], true
		for _, vm := range guests[n] {
			free = free && p.movable(vm)
			if p.movable(vm) {
				gain[n] += loads[vm]*(node.slope()-flattest) - p.moveCost(vm)
			}
		}
		if node.MayTurnOff && free && len(guests[n]) > 0 {
			gain[n] += float64(node.Power.Idle) - p.switchCost(n)
		}
	}
	list := slices.DeleteFunc(p.all(), func(n int) bool { return gain[n] <= 0 })
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(gain[b], gain[a]), cmp.Compare(a, b)) })
	return list
}

// destinations returns the nodes with free resources: the least power by capacity first, then
// the highest load.
func (p *Problem) destinations(guests [][]int, loads []float64) []int {
	busy := make([]float64, len(p.Nodes))
	for n, vms := range guests {
		for _, vm := range vms {
			busy[n] += loads[vm]
		}
	}
	free := func(n int) bool {
		for r, room := range p.Nodes[n].Capacity {
			for _, vm := range guests[n] {
				room -= p.VMs[vm].Need[r]
			}
			if room <= 0 {
				return false
			}
		}
		return true
	}
	list := slices.DeleteFunc(p.all(), func(n int) bool { return !free(n) })
	slices.SortFunc(list, func(a, b int) int {
		x, y := &p.Nodes[a], &p.Nodes[b]
		return cmp.Or(
			cmp.Compare(float64(x.Power.Full)/x.CPU, float64(y.Power.Full)/y.CPU), cmp.Compare(x.slope(), y.slope()),
			cmp.Compare(busy[b]/y.CPU, busy[a]/x.CPU), cmp.Compare(a, b),
		)
	})
	return list
}
