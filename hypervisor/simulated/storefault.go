package simulated

import (
	"fmt"
	"hash/fnv"
	"slices"

	"vjob/hypervisor"
)

// failsOften is the share of calls and looks that fail on a store that fails.
const failsOften = 0.7

// slowest is how many times longer a slow store takes at most to be read.
const slowest = 150

// foreign is nil when the file system that is mounted in place of a pool is the pool.
func (c *Cluster) foreign(pool string) *failure {
	for _, h := range c.order {
		if h.Pool == pool && h.has(StoreForeign) {
			return failed(hypervisor.ErrNoImage, "pool %s: the mark of this installation is missing", pool)
		}
	}
	return nil
}

// reached is nil when the image store of a node serves a call now.
func (c *Cluster) reached(h *host) *failure {
	if h.has(StoreGone) {
		return failed(hypervisor.ErrNoImage, "the store is not mounted on %s", h.ID)
	}
	if f := c.foreign(h.Pool); f != nil {
		return f
	}
	if !h.has(StoreFails) || !c.happens(failsOften) {
		return nil
	}
	switch c.chance.IntN(3) {
	case 0:
		return failed(hypervisor.ErrNoImage, "the store of %s: input/output error", h.ID)
	case 1:
		return failed(hypervisor.ErrNoImage, "the store of %s: stale file handle", h.ID)
	default:
		return failed(hypervisor.ErrNoSpace, "the store of %s: no space left on device", h.ID)
	}
}

// listable is nil when what a node saved can be listed.
func (c *Cluster) listable(h *host) *failure {
	if h.has(StoreFails) && c.happens(failsOften) {
		return failed(hypervisor.ErrNoImage, "the store of %s: readdir: input/output error", h.ID)
	}
	return c.foreign(h.Pool)
}

// entry is what a look shows of an image.
func (c *Cluster) entry(i *image) hypervisor.Image {
	return hypervisor.Image{ID: i.ID, Node: i.Node, Bytes: i.Bytes, Complete: i.Complete, Written: c.at(i.Written)}
}

// saved lists what a node saved.
func (c *Cluster) saved(h *host) []hypervisor.Image {
	list := []hypervisor.Image{}
	for _, i := range c.sortedImages() {
		if i.Node == h.ID {
			list = append(list, c.entry(i))
		}
	}
	return list
}

// list lists the images in the pools of the nodes that answer, in order. Each node saves
// into a directory of its own: one that is cached shows what it held before.
func (c *Cluster) list(open hypervisor.Spaces) []hypervisor.Image {
	var list []hypervisor.Image
	for _, i := range c.sortedImages() {
		if h := c.hosts[i.Node]; h == nil || !h.has(StoreStale) {
			list = append(list, c.entry(i))
		}
	}
	stale := false
	for _, h := range c.order {
		if h.has(StoreStale) {
			list, stale = append(list, h.listing...), true
		}
	}
	if stale {
		slices.SortFunc(list, func(a, b hypervisor.Image) int { return compareIDs(a.ID, b.ID) })
	}
	seen := map[string]bool{}
	for _, s := range open {
		seen[s.Pool] = true
	}
	list = slices.DeleteFunc(list, func(i hypervisor.Image) bool { return !seen[c.hosts[i.Node].Pool] })
	for at := range list {
		list[at].Node = c.door(c.hosts[list[at].Node], open)
	}
	return list
}

// misfit reports whether a node never loads an image, since the machine that was saved
// is of a type that the node does not have. The node that saved it always does.
func (c *Cluster) misfit(h *host, i *image) bool {
	if c.cfg.Faults.Misfit == 0 || h.ID == i.Node {
		return false
	}
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%d %s %s %d", c.cfg.Seed, h.ID, i.ID.VM, i.ID.Generation) // a hash takes all
	return float64(sum.Sum32()) < c.cfg.Faults.Misfit*(1<<32)
}

// unloadable is what a hypervisor says that does not load an image.
func (c *Cluster) unloadable(m *machine, op *operation) *failure {
	why := "load of migration failed: input/output error"
	if !c.hosts[m.Node].has(LoadRefused) {
		why = "load of migration failed: machine type received is 'pc-i440fx-7.2' and local is 'pc-i440fx-6.2'"
	}
	return refuse(op, why)
}
