// Package failover tells whether the VMs of any few nodes find places on the other nodes, so that they can start
// again if these nodes are lost.
//
// [Check] is conservative: it says that they do only if it has found places for all VMs of each set of nodes, beside
// the VMs that are there, none of which moves. It looks at sums first, then at size classes for all sets at once, and
// at last at each set. Sizes are those that a VM reserves in CPU and memory; placement rules do not count.
package failover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
)

// Node is a node that may be lost.
type Node struct {
	ID cluster.NodeID
	// Free is what it offers to further VMs; what is negative counts as 0, and a node that takes no VMs offers nothing.
	Free cluster.Resources
	// VMs are the sizes of the VMs that start elsewhere if it is lost.
	VMs []cluster.Resources
}

// Report is whether the loss of nodes can be made up for, and by how much.
type Report struct {
	Nodes int // that may be lost at once
	Holds bool
	// Spare is what can be taken at least before the sums are short: a VM that starts anywhere takes what it reserves
	// from it. It is negative where the others have too little in sum.
	Spare cluster.Resources
	// Lost are the nodes of which the loss cannot be made up for; nil if it holds, or no such set is known.
	Lost []cluster.NodeID
	// Stuck is a VM without a place although the sums suffice; zero: none is known.
	Stuck cluster.Resources
}

// mostSets bounds how many sets of nodes are looked at one by one.
const mostSets = 2000

// Check returns whether the VMs of any n nodes find places on the others.
func Check(nodes []Node, n int) Report {
	r := Report{Nodes: n, Holds: true}
	n = min(n, len(nodes))
	if n <= 0 {
		return r
	}
	r.checkSums(nodes, n)
	if !r.Holds || sizeClasses(nodes, n) {
		return r
	}
	s := newSearch(nodes)
	if sets(len(nodes), n) > mostSets && n > 1 {
		r.Holds, r.Stuck = false, s.largest()
		return r
	}
	s.each(n, func(lost []int) bool {
		stuck, ok := s.place(lost)
		if !ok {
			r.Holds, r.Stuck, r.Lost = false, stuck, ids(nodes, lost)
		}
		return ok
	})
	return r
}

// Needs returns the report after VMs that reserve so much in sum were added to the nodes, as far as sums tell.
func (r *Report) Needs(sum cluster.Resources) Report {
	after := *r
	after.Spare = r.Spare.Minus(sum)
	after.Holds = r.Holds && after.Spare.CPU >= 0 && after.Spare.Memory >= 0
	return after
}

// Short returns what the other nodes lack in sum; zero if they lack nothing or it holds.
func (r *Report) Short() (short cluster.Resources) {
	if r.Holds {
		return short
	}
	return cluster.Resources{CPU: max(0, -r.Spare.CPU), Memory: max(0, -r.Spare.Memory)}
}

// Why returns what is missing: "4 CPU and 2 GiB short", or "no place for a VM of 4 CPU and 2 GiB of node n3"; "" if it
// holds.
func (r *Report) Why() string {
	short := r.Short()
	switch {
	case r.Holds:
		return ""
	case short.CPU > 0 && short.Memory > 0:
		return fmt.Sprintf("%s CPU and %s short", short.CPU, short.Memory)
	case short.CPU > 0:
		return fmt.Sprintf("%s CPU short", short.CPU)
	case short.Memory > 0:
		return fmt.Sprintf("%s short", short.Memory)
	}
	text := fmt.Sprintf("no place for a VM of %s CPU and %s", r.Stuck.CPU, r.Stuck.Memory)
	if len(r.Lost) > 0 {
		names := make([]string, len(r.Lost))
		for i, id := range r.Lost {
			names[i] = string(id)
		}
		text += " of " + strings.Join(names, ", ")
	}
	return text
}

// Of returns "the loss of a node", or "the loss of 2 nodes".
func Of(n int) string {
	if n == 1 {
		return "the loss of a node"
	}
	return fmt.Sprintf("the loss of %d nodes", n)
}

// checkSums sets Spare: what all nodes have free, less what the n nodes that offer and hold most offer and hold. A
// VM lowers it by its size wherever it is. If Spare is negative, these nodes are the lost ones.
func (r *Report) checkSums(nodes []Node, n int) {
	for _, of := range []struct {
		amount func(x cluster.Resources) int64
		spare  func(left int64)
	}{
		{func(x cluster.Resources) int64 { return int64(x.Memory) }, func(left int64) { r.Spare.Memory = cluster.MiB(left) }},
		{func(x cluster.Resources) int64 { return int64(x.CPU) }, func(left int64) { r.Spare.CPU = cluster.MilliCPU(left) }},
	} {
		weights, sum := make([]int64, len(nodes)), int64(0)
		for i := range nodes {
			free := max(0, of.amount(nodes[i].Free))
			sum, weights[i] = sum+free, weights[i]+free
			for _, vm := range nodes[i].VMs {
				weights[i] += of.amount(vm)
			}
		}
		lost := heaviest(weights, n)
		for _, i := range lost {
			sum -= weights[i]
		}
		of.spare(sum)
		if sum < 0 {
			r.Holds, r.Lost = false, ids(nodes, lost)
		}
	}
}

// heaviest returns the indices of the n largest weights, sorted.
func heaviest(weights []int64, n int) (list []int) {
	for i, w := range weights {
		if len(list) == n && w <= weights[list[n-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, w, func(k int, w int64) int {
			if weights[k] >= w {
				return -1
			}
			return 1
		})
		list = slices.Insert(list, at, i)
		list = list[:min(len(list), n)]
	}
	slices.Sort(list)
	return list
}

func ids(nodes []Node, list []int) (names []cluster.NodeID) {
	for _, i := range list {
		names = append(names, nodes[i].ID)
	}
	return names
}

// sets returns how many sets of k of n there are, or a number above mostSets.
func sets(n, k int) int {
	count := 1
	for i := range k {
		if count = count * (n - i) / (i + 1); count > mostSets {
			return count
		}
	}
	return count
}

// bulk orders sizes: by the larger of CPU and memory as parts of the largest VM.
func bulk(size, largest cluster.Resources) float64 {
	return max(float64(size.CPU)/float64(max(1, largest.CPU)), float64(size.Memory)/float64(max(1, largest.Memory)))
}

// largestOf returns the largest CPU and the largest memory of all VMs.
func largestOf(nodes []Node) (largest cluster.Resources) {
	for i := range nodes {
		for _, vm := range nodes[i].VMs {
			largest.CPU, largest.Memory = max(largest.CPU, vm.CPU), max(largest.Memory, vm.Memory)
		}
	}
	return largest
}

func byBulk(largest cluster.Resources) func(a, b cluster.Resources) int {
	return func(a, b cluster.Resources) int {
		return cmp.Or(cmp.Compare(bulk(b, largest), bulk(a, largest)), cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Memory, a.Memory))
	}
}
