package simulated

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// image is one file in the image store.
type image struct {
	ID       hypervisor.ImageID `json:"id"`
	Node     cluster.NodeID     `json:"node"`
	Pool     string             `json:"pool"`
	Bytes    int64              `json:"bytes"`
	Complete bool               `json:"complete"`
	Durable  bool               `json:"durable"` // survives a loss of power
	Rot      int                `json:"rot"`     // times that its content was damaged
	Sum      string             `json:"sum"`     // the checksum of the first seal
	Written  simTime            `json:"written_ns"`
	Mem      memory             `json:"mem"`
}

// checksum is a hash of the content.
func (i *image) checksum() string {
	hash := fnv.New64a()
	content := fmt.Sprintf("%s %d %d %d %d", i.ID, i.Mem.Stamp.Incarnation, i.Mem.Epoch, i.Bytes, i.Rot)
	hash.Write([]byte(content))
	return fmt.Sprintf("fnv64a:%016x", hash.Sum64())
}

// readable returns an image that a node can read, or the failure.
func (c *Cluster) readable(id hypervisor.ImageID, from cluster.NodeID) (*image, *failure) {
	i := c.images[id]
	n := c.nodes.byID[from]
	if f := c.storeFailure(n); f != nil {
		return nil, f
	}
	switch {
	case i == nil:
		return nil, newFailure(hypervisor.ErrNoImage, "image %s: no such file", id)
	case !i.Complete:
		return nil, newFailure(hypervisor.ErrBadImage, "image %s: save image is incomplete", id)
	case n.Pool != i.Pool && !slices.ContainsFunc(c.nodes.sorted, func(o *node) bool {
		return o.Pool == i.Pool && o.up() && !o.has(Freeze) && !o.has(StoreGone)
	}):
		return nil, newFailure(hypervisor.ErrNoImage, "image %s: no node with pool %s answers", id, i.Pool)
	}
	return i, nil
}

// free is the free space in a pool.
func (c *Cluster) free(pool string) cluster.MiB {
	size, limited := c.pools[pool]
	if !limited {
		size = 1 << 40
	}
	var used int64
	for _, i := range c.images {
		if i.Pool == pool {
			used += i.Bytes
		}
	}
	const mib = 1 << 20
	return size - cluster.MiB(math.Ceil(float64(used)/mib))
}

// LookStore lists every image that can be read at a time: those in pools with a node that
// answers.
func (c *Cluster) LookStore(now time.Time) (hypervisor.Store, error) {
	c.advance(now)
	s := hypervisor.Store{Free: hypervisor.Spaces{}}
	pools := map[string]cluster.MiB{}
	for _, n := range c.nodes.sorted {
		if n.unreachable() != nil || n.has(StoreGone) {
			continue
		}
		if f := c.listable(n); f != nil {
			return hypervisor.Store{}, f
		}
		free, known := pools[n.Pool]
		if !known {
			free = c.free(n.Pool)
			pools[n.Pool] = free
		}
		if n.has(DiskFull) {
			free = 0
		}
		s.Free[n.ID] = hypervisor.Space{Pool: n.Pool, Free: free}
	}
	if len(pools) == 0 {
		return hypervisor.Store{}, newFailure(hypervisor.ErrUnreachable, "image store: no node answers")
	}
	s.Images = c.listImages(s.Free)
	return s, nil
}

// reachableVia is the node through which an image can be reached: the node that saved it, or
// another node of its pool while that node does not answer.
func (c *Cluster) reachableVia(saved *node, open hypervisor.Spaces) cluster.NodeID {
	if _, ok := open[saved.ID]; ok {
		return saved.ID
	}
	for _, n := range c.nodes.sorted {
		if _, ok := open[n.ID]; ok && n.Pool == saved.Pool {
			return n.ID
		}
	}
	return saved.ID
}

// sortedImages lists the images in order of VMs, generations and attempts.
func (c *Cluster) sortedImages() []*image {
	return slices.SortedFunc(maps.Values(c.images), func(a, b *image) int { return compareIDs(a.ID, b.ID) })
}

func compareIDs(a, b hypervisor.ImageID) int {
	return cmp.Or(a.VM.Compare(b.VM), cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Attempt, b.Attempt))
}

// startSave begins to write the image. A running copy is paused for it, and continues if the
// save fails (row 6a).
func (c *Cluster) startSave(op *operation) (time.Duration, *failure) {
	m, f := c.nodes.present(op)
	if f != nil {
		return 0, f
	}
	n, id := c.nodes.byID[m.Node], op.Call.Image
	switch {
	case m.State == hypervisor.CopyDead:
		return 0, refuse(op, "domain is not running")
	case m.Job != hypervisor.JobNone:
		c.waitForJob(op, m)
		return 0, nil
	case id.VM != m.VM:
		return 0, refuse(op, "image "+id.String()+" is another VM's")
	case c.images[id] != nil:
		return 0, refuse(op, "image "+id.String()+" exists")
	}
	if f := c.storeFailure(n); f != nil {
		return 0, f
	}
	op.Ran = m.State == hypervisor.CopyRunning
	if op.Ran {
		c.stopGuest(m, hypervisor.CopyPaused)
		c.report(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Memory)
	}
	c.beginJob(m, hypervisor.JobSaving, op)
	c.images[id] = &image{ID: id, Node: n.ID, Pool: n.Pool, Mem: m.Memory, Written: c.clock.now}
	c.report(Change{Kind: SaveBegun, VM: m.VM, Node: m.Node, Image: id}, &m.Memory)
	return c.profile.Save.Of(m.Memory.Spec.Reserved.Memory), nil
}

// finishSave completes the image and removes the copy. If the image was deleted meanwhile, the
// memory is lost.
func (c *Cluster) finishSave(op *operation) *failure {
	m, f := c.nodes.present(op)
	if f != nil || m.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	n := c.nodes.byID[m.Node]
	need := m.Memory.Spec.Reserved.Memory
	if op.Cut == cutFull || op.Cut == cutFullLeft || n.has(DiskFull) || c.free(n.Pool) < need {
		full := newFailure(hypervisor.ErrNoSpace, "save %s on %s: no space left on device", m.VM, m.Node)
		c.cancelSave(m, op.Cut == cutFullLeft, full)
		return full
	}
	if i := c.images[op.Call.Image]; i != nil && i.Node == n.ID {
		i.Complete, i.Bytes, i.Mem, i.Written = true, int64(need)<<20, m.Memory, c.clock.now
	}
	m.Job, m.Op = hypervisor.JobNone, 0
	c.removeCopy(m)
	c.report(Change{Kind: Saved, VM: m.VM, Node: m.Node, Image: op.Call.Image}, &m.Memory)
	return nil
}

// cancelSave ends a failed save: the partial file stays or is removed, and the copy returns to
// its state before the save.
func (c *Cluster) cancelSave(m *machine, leave bool, why *failure) {
	op := c.ops[m.Op]
	if i := c.images[op.Call.Image]; leave && i != nil {
		i.Bytes, i.Written = int64(m.Memory.Spec.Reserved.Memory)<<19, c.clock.now // half of it was written
	} else {
		c.removePartial(op.Call.Image)
	}
	c.endJob(m)
	if op.Ran && m.State == hypervisor.CopyPaused && c.nodes.lockHolder(m.VM, m.Node) == nil {
		c.unpause(m)
	}
	c.end(op, hypervisor.Receipt{}, why)
}

// removePartial removes the file of a save that failed.
func (c *Cluster) removePartial(id hypervisor.ImageID) {
	if i := c.images[id]; i != nil && !i.Complete {
		delete(c.images, id)
		c.report(Change{Kind: Discarded, VM: id.VM, Node: i.Node, Image: id}, &i.Mem)
	}
}

func (c *Cluster) startSeal(op *operation) (time.Duration, *failure) {
	i, f := c.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return 0, f
	}
	return c.profile.Seal.Of(i.Mem.Spec.Reserved.Memory), nil
}

// finishSeal makes the image and its checksum durable. An image that was sealed before is
// verified.
func (c *Cluster) finishSeal(op *operation) (hypervisor.Receipt, *failure) {
	i, f := c.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return hypervisor.Receipt{}, f
	}
	if i.Sum != "" && i.Sum != i.checksum() {
		return hypervisor.Receipt{}, newFailure(hypervisor.ErrBadImage, "image %s: is not what was sealed", i.ID)
	}
	i.Durable, i.Sum = true, i.checksum()
	c.report(Change{Kind: Sealed, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
	return hypervisor.Receipt{Bytes: i.Bytes, Checksum: i.checksum(), Incarnation: i.Mem.Stamp.Incarnation}, nil
}

// finishDiscard deletes the image. A missing image is no failure.
func (c *Cluster) finishDiscard(op *operation) *failure {
	if f := c.storeFailure(c.nodes.byID[op.Call.Node]); f != nil {
		return f
	}
	if i := c.images[op.Call.Image]; i != nil {
		delete(c.images, i.ID)
		good := i.Complete && i.Rot == 0 && !i.Mem.Corrupt
		c.report(Change{Kind: Discarded, VM: i.ID.VM, Node: i.Node, Image: i.ID, Good: good}, &i.Mem)
	}
	return nil
}
