package simulated

import (
	"fmt"
	"hash/fnv"
	"slices"

	"vjob/hypervisor"
)

// storeFailRate is the share of calls and looks that fail while [StoreFails] is active.
const storeFailRate = 0.7

// tornUnsealed is the probability that a power loss tears an unsealed image.
const tornUnsealed = 0.5

// maxStoreSlowdown bounds by which factor a slow store is slower.
const maxStoreSlowdown = 150

// foreignMounts returns the failures of the pools on which the wrong file system is mounted.
func (st *imageStore) foreignMounts() map[string]*failure {
	var list map[string]*failure
	for _, n := range st.nodes.sorted {
		if !n.has(StoreForeign) {
			continue
		}
		if list == nil {
			list = map[string]*failure{}
		}
		list[n.Pool] = newFailure(hypervisor.ErrNoImage, "pool %s: the mark of this installation is missing", n.Pool)
	}
	return list
}

// failureOn returns the failure of a call that uses the image store of a node now, or nil.
func (st *imageStore) failureOn(n *node) *failure {
	if n.has(StoreGone) {
		return newFailure(hypervisor.ErrNoImage, "the store is not mounted on %s", n.ID)
	}
	if f := st.foreignMounts()[n.Pool]; f != nil {
		return f
	}
	if !n.has(StoreFails) || !st.random.bernoulli(storeFailRate) {
		return nil
	}
	switch st.random.IntN(3) {
	case 0:
		return newFailure(hypervisor.ErrNoImage, "the store of %s: input/output error", n.ID)
	case 1:
		return newFailure(hypervisor.ErrNoImage, "the store of %s: stale file handle", n.ID)
	default:
		return newFailure(hypervisor.ErrNoSpace, "the store of %s: no space left on device", n.ID)
	}
}

// listable returns the failure to list the images of a node, given those of pools, or nil.
func (st *imageStore) listable(n *node, foreign map[string]*failure) *failure {
	if n.has(StoreFails) && st.random.bernoulli(storeFailRate) {
		return newFailure(hypervisor.ErrNoImage, "the store of %s: readdir: input/output error", n.ID)
	}
	return foreign[n.Pool]
}

// listed is an image as looks show it.
func (st *imageStore) listed(i *image) hypervisor.Image {
	return hypervisor.Image{ID: i.ID, Node: i.Node, Bytes: i.Bytes, Complete: i.Complete, Written: st.clock.at(i.Written), Hardware: i.Mem.Hardware}
}

// savedBy lists the images that a node saved.
func (st *imageStore) savedBy(n *node) []hypervisor.Image {
	list := []hypervisor.Image{}
	for _, i := range st.sorted() {
		if i.Node == n.ID {
			list = append(list, st.listed(i))
		}
	}
	return list
}

// listReachable lists the images in the pools of the nodes that answer, in order. Each node saves
// into a directory of its own; a stale directory shows its images of an earlier time.
func (st *imageStore) listReachable(open hypervisor.Spaces) []hypervisor.Image {
	var list []hypervisor.Image
	for _, i := range st.sorted() {
		if n := st.nodes.byID[i.Node]; n == nil || !n.has(StoreStale) {
			list = append(list, st.listed(i))
		}
	}
	stale := false
	for _, n := range st.nodes.sorted {
		if n.has(StoreStale) {
			list, stale = append(list, n.listing...), true
		}
	}
	if stale {
		slices.SortFunc(list, func(a, b hypervisor.Image) int { return compareIDs(a.ID, b.ID) })
	}
	seen := map[string]bool{}
	for _, s := range open {
		seen[s.Pool] = true
	}
	list = slices.DeleteFunc(list, func(i hypervisor.Image) bool { return !seen[st.nodes.byID[i.Node].Pool] })
	for at := range list {
		list[at].Node = st.reachableVia(st.nodes.byID[list[at].Node], open)
	}
	return list
}

// incompatible reports whether a node lacks the machine type of an image and so never loads it.
// The node that saved the image always loads it.
func (st *imageStore) incompatible(n *node, i *image) bool {
	if st.faults.rates.Misfit == 0 || n.ID == i.Node {
		return false
	}
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%d %s %s %d", st.seed, n.ID, i.ID.VM, i.ID.Generation) // a hash takes all
	return float64(sum.Sum32()) < st.faults.rates.Misfit*(1<<32)
}

// rot flips bits of an image.
func (st *imageStore) rot(i *image) {
	i.Rot++
	st.touched.images.add(i.ID)
	st.observer.report(Change{Kind: ImageDamaged, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
}

// tear damages some of the unsealed images of a node that lost power. Their data was synced before
// the header marked them complete: they can only lose the header.
func (st *imageStore) tear(n *node) {
	for _, i := range st.sorted() {
		if i.Node == n.ID && i.Complete && !i.Durable && st.random.bernoulli(tornUnsealed) {
			i.Complete = false
			st.touched.images.add(i.ID)
			st.observer.report(Change{Kind: ImageDamaged, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
		}
	}
}
