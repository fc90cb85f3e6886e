package simulated

import (
	"fmt"
	"hash/fnv"
	"slices"

	"vjob/hypervisor"
)

// storeFailRate is the share of calls and looks that fail while [StoreFails] is active.
const storeFailRate = 0.7

// maxStoreSlowdown bounds by which factor a slow store is slower.
const maxStoreSlowdown = 150

// foreignMount is nil if the right file system is mounted for a pool.
func (c *Cluster) foreignMount(pool string) *failure {
	for _, n := range c.nodes.sorted {
		if n.Pool == pool && n.has(StoreForeign) {
			return newFailure(hypervisor.ErrNoImage, "pool %s: the mark of this installation is missing", pool)
		}
	}
	return nil
}

// storeFailure is nil if the image store of a node works now.
func (c *Cluster) storeFailure(n *node) *failure {
	if n.has(StoreGone) {
		return newFailure(hypervisor.ErrNoImage, "the store is not mounted on %s", n.ID)
	}
	if f := c.foreignMount(n.Pool); f != nil {
		return f
	}
	if !n.has(StoreFails) || !c.random.bernoulli(storeFailRate) {
		return nil
	}
	switch c.random.IntN(3) {
	case 0:
		return newFailure(hypervisor.ErrNoImage, "the store of %s: input/output error", n.ID)
	case 1:
		return newFailure(hypervisor.ErrNoImage, "the store of %s: stale file handle", n.ID)
	default:
		return newFailure(hypervisor.ErrNoSpace, "the store of %s: no space left on device", n.ID)
	}
}

// listable is nil if the images of a node can be listed.
func (c *Cluster) listable(n *node) *failure {
	if n.has(StoreFails) && c.random.bernoulli(storeFailRate) {
		return newFailure(hypervisor.ErrNoImage, "the store of %s: readdir: input/output error", n.ID)
	}
	return c.foreignMount(n.Pool)
}

// listed is an image as looks show it.
func (c *Cluster) listed(i *image) hypervisor.Image {
	return hypervisor.Image{ID: i.ID, Node: i.Node, Bytes: i.Bytes, Complete: i.Complete, Written: c.clock.at(i.Written)}
}

// imagesOf lists the images that a node saved.
func (c *Cluster) imagesOf(n *node) []hypervisor.Image {
	list := []hypervisor.Image{}
	for _, i := range c.sortedImages() {
		if i.Node == n.ID {
			list = append(list, c.listed(i))
		}
	}
	return list
}

// listImages lists the images in the pools of the nodes that answer, in order. Each node saves
// into a directory of its own; a stale directory shows its images of an earlier time.
func (c *Cluster) listImages(open hypervisor.Spaces) []hypervisor.Image {
	var list []hypervisor.Image
	for _, i := range c.sortedImages() {
		if n := c.nodes.byID[i.Node]; n == nil || !n.has(StoreStale) {
			list = append(list, c.listed(i))
		}
	}
	stale := false
	for _, n := range c.nodes.sorted {
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
	list = slices.DeleteFunc(list, func(i hypervisor.Image) bool { return !seen[c.nodes.byID[i.Node].Pool] })
	for at := range list {
		list[at].Node = c.reachableVia(c.nodes.byID[list[at].Node], open)
	}
	return list
}

// incompatible reports whether a node lacks the machine type of an image and so never loads it.
// The node that saved the image always loads it.
func (c *Cluster) incompatible(n *node, i *image) bool {
	if c.faults.rates.Misfit == 0 || n.ID == i.Node {
		return false
	}
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%d %s %s %d", c.seed, n.ID, i.ID.VM, i.ID.Generation) // a hash takes all
	return float64(sum.Sum32()) < c.faults.rates.Misfit*(1<<32)
}

// unloadable is the failure of a node that does not load an image.
func unloadable(n *node, op *operation) *failure {
	why := "load of migration failed: input/output error"
	if !n.has(LoadRefused) {
		why = "load of migration failed: machine type received is 'pc-i440fx-7.2' and local is 'pc-i440fx-6.2'"
	}
	return refuse(op, why)
}
