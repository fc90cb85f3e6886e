package day

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Node is a node of the cluster.
type Node struct {
	Name     string
	Capacity cluster.Resources
	Power    energy.Power
}

// mostNodes is the maximum number of nodes.
const mostNodes = 10_000

// newNode returns a node. At full load it draws 60 W and 20 W for each processor, idle 60 % of that (§4.4 of the DRS paper:
// "exceeds 60 %"), off 6 W. It boots in three minutes.
func newNode(capacity cluster.Resources) Node {
	full := 60 + 20*energy.Watts(capacity.CPU)/1000
	p := energy.Power{Idle: 0.6 * full, Full: full, Standby: 6}
	p.On = energy.Switch{Time: 3 * time.Minute, Energy: (0.7 * full).Over(3 * time.Minute)}
	p.Off = energy.Switch{Time: time.Minute, Energy: p.Idle.Over(time.Minute)}
	return Node{Capacity: capacity, Power: p}
}

// ParseNodes reads kinds of nodes such as "20x8x32GiB,20x16x64GiB": how many, with how many processors and how much
// memory. The error names the field.
func ParseNodes(field, text string) (nodes []Node, err error) {
	const want = "COUNTxPROCESSORSxMEMORY, such as 20x8x32GiB,20x16x64GiB"
	for kind := range strings.SplitSeq(text, ",") {
		parts := strings.SplitN(strings.TrimSpace(kind), "x", 3)
		if len(parts) != 3 {
			return nil, cluster.BadField(field, kind, want)
		}
		n, err := strconv.Atoi(parts[0])
		cpu, err1 := cluster.ParseCPU(parts[1])
		memory, err2 := cluster.ParseMiB(parts[2])
		if errors.Join(err, err1, err2) != nil || n < 1 || cpu < 1 || memory < 1 {
			return nil, cluster.BadField(field, kind, want)
		}
		if len(nodes)+n > mostNodes {
			return nil, cluster.BadField(field, text, fmt.Sprintf("at most %d nodes", mostNodes))
		}
		for range n {
			nodes = append(nodes, newNode(cluster.Resources{CPU: cpu, Memory: memory}))
		}
	}
	name(nodes)
	return nodes, nil
}

// name numbers nodes so that the order of their names is that of the nodes.
func name(nodes []Node) {
	width := len(strconv.Itoa(len(nodes)))
	for i := range nodes {
		nodes[i].Name = fmt.Sprintf("n%0*d", width, i+1)
	}
}

// fillCPU and fillMemory are how full nodes of the default sizes are.
const (
	fillCPU    = 0.7
	fillMemory = 0.6
	mostSets   = 10 // of a small, a middle and a large one
)

// DefaultNodes returns nodes of three kinds that suit a trace, at most ten of each: small ones, middle ones of twice and
// large ones of four times as many processors. In 95 % of all steps the VMs demand at most 70 % of the
// processors, and their sizes are at most 60 % of the memory. The largest VM fits on a large node. Small nodes have
// twice as much memory for each processor, so that VMs that are placed by memory crowd their processors.
func DefaultNodes(t *Trace) []Node {
	cpu, memory, biggest := cluster.MilliCPU(0), cluster.MiB(0), cluster.Resources{}
	for i := range t.VMs {
		memory += t.VMs[i].Memory
		biggest.CPU, biggest.Memory = max(biggest.CPU, t.VMs[i].CPU), max(biggest.Memory, t.VMs[i].Memory)
	}
	sums := t.demands()
	slices.Sort(sums)
	cpu = sums[len(sums)*95/100]
	small := cluster.CPU
	sets := func() int { return max(1, int(math.Ceil(float64(cpu)/fillCPU/float64(7*small)))) }
	for 4*small < biggest.CPU || sets() > mostSets {
		small *= 2
	}
	per := cluster.MiB(float64(memory)/fillMemory/float64(sets())/float64(8*small/cluster.CPU))/cluster.GiB*cluster.GiB + cluster.GiB
	for cluster.MiB(4*small/cluster.CPU)*per < biggest.Memory {
		per += cluster.GiB
	}
	for {
		nodes := threeKinds(sets(), small, per)
		if _, err := place(t, nodes); err == nil {
			return nodes
		}
		per += cluster.GiB // many VMs are too large for small nodes
	}
}

// threeKinds returns so many small, middle and large nodes; large ones have so much memory for each processor.
func threeKinds(sets int, small cluster.MilliCPU, per cluster.MiB) (nodes []Node) {
	of := func(processors cluster.MilliCPU) cluster.MiB { return cluster.MiB(processors/cluster.CPU) * per }
	for _, kind := range []cluster.Resources{
		{CPU: small, Memory: of(2 * small)}, {CPU: 2 * small, Memory: of(2 * small)}, {CPU: 4 * small, Memory: of(4 * small)},
	} {
		for range sets {
			nodes = append(nodes, newNode(kind))
		}
	}
	name(nodes)
	return nodes
}

// FormatNodes returns kinds of nodes as [ParseNodes] reads them.
func FormatNodes(nodes []Node) string {
	var kinds []string
	for i := 0; i < len(nodes); {
		k := i
		for k < len(nodes) && nodes[k].Capacity == nodes[i].Capacity {
			k++
		}
		memory := strings.ReplaceAll(nodes[i].Capacity.Memory.String(), " ", "")
		kinds = append(kinds, fmt.Sprintf("%dx%sx%s", k-i, nodes[i].Capacity.CPU, memory))
		i = k
	}
	return strings.Join(kinds, ",")
}

// place puts each VM, in order, on the node with the largest free part of its memory, among those with as many processors
// as the VM. The demand is unknown then. It returns an error if a VM fits on no node.
func place(t *Trace, nodes []Node) ([]int, error) {
	where, free := make([]int, len(t.VMs)), make([]cluster.MiB, len(nodes))
	for i := range nodes {
		free[i] = nodes[i].Capacity.Memory
	}
	order := make([]int, len(t.VMs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // VMs larger than most go first, so that they fit
		large := func(vm int) int { return int(t.VMs[vm].Memory / (16 * cluster.GiB)) }
		return large(b) - large(a)
	})
	for _, vm := range order {
		v, best := &t.VMs[vm], -1
		part := func(n int) float64 { return float64(free[n]-v.Memory) / float64(nodes[n].Capacity.Memory) }
		for n := range nodes {
			if v.CPU <= nodes[n].Capacity.CPU && v.Memory <= free[n] && (best < 0 || part(n) > part(best)) {
				best = n
			}
		}
		if best < 0 {
			return nil, cluster.Fault("nodes", "too small: VM %s of %s fits on none beside the others; the %d VMs have %s of memory, the nodes %s",
				shown(v.Name), cluster.Resources{CPU: v.CPU, Memory: v.Memory}, len(t.VMs), total(t), capacity(nodes).Memory)
		}
		where[vm], free[best] = best, free[best]-v.Memory
	}
	return where, nil
}

func total(t *Trace) (sum cluster.MiB) {
	for i := range t.VMs {
		sum += t.VMs[i].Memory
	}
	return sum
}

func capacity(nodes []Node) (sum cluster.Resources) {
	for i := range nodes {
		sum = sum.Plus(nodes[i].Capacity)
	}
	return sum
}
