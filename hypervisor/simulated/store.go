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
	Sum      string             `json:"sum"`     // what the first seal found, kept beside it
	Written  moment             `json:"written_ns"`
	Mem      memory             `json:"mem"`
}

// checksum is a hash of the content.
func (i *image) checksum() string {
	h := fnv.New64a()
	content := fmt.Sprintf("%s %d %d %d %d", i.ID, i.Mem.Stamp.Incarnation, i.Mem.Epoch, i.Bytes, i.Rot)
	h.Write([]byte(content))
	return fmt.Sprintf("fnv64a:%016x", h.Sum64())
}

// readable is nil when the node can read the image in full.
func (c *Cluster) readable(id hypervisor.ImageID, from cluster.NodeID) (*image, *failure) {
	i := c.images[id]
	h := c.hosts[from]
	if f := c.reached(h); f != nil {
		return nil, f
	}
	switch {
	case i == nil:
		return nil, failed(hypervisor.ErrNoImage, "image %s: no such file", id)
	case !i.Complete:
		return nil, failed(hypervisor.ErrBadImage, "image %s: save image is incomplete", id)
	case h.Pool != i.Pool && !slices.ContainsFunc(c.order, func(o *host) bool {
		return o.Pool == i.Pool && o.up() && !o.has(Freeze) && !o.has(StoreGone)
	}):
		return nil, failed(hypervisor.ErrNoImage, "image %s: no node with pool %s answers", id, i.Pool)
	}
	return i, nil
}

// free is the room in a pool.
func (c *Cluster) free(pool string) cluster.MiB {
	size, limited := c.cfg.Pools[pool]
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

// LookStore lists every image that can be read at a time: those in pools of
// which a node answers.
func (c *Cluster) LookStore(now time.Time) (hypervisor.Store, error) {
	c.run(now)
	s := hypervisor.Store{Free: hypervisor.Spaces{}}
	pools := map[string]cluster.MiB{}
	for _, h := range c.order {
		if h.answers() != nil || h.has(StoreGone) {
			continue
		}
		if f := c.listable(h); f != nil {
			return hypervisor.Store{}, f
		}
		free, known := pools[h.Pool]
		if !known {
			free = c.free(h.Pool)
			pools[h.Pool] = free
		}
		if h.has(DiskFull) {
			free = 0
		}
		s.Free[h.ID] = hypervisor.Space{Pool: h.Pool, Free: free}
	}
	if len(pools) == 0 {
		return hypervisor.Store{}, failed(hypervisor.ErrUnreachable, "image store: no node answers")
	}
	s.Images = c.list(s.Free)
	return s, nil
}

// door is the node through which an image can be reached: the one that saved it,
// and another one of its pool while that one does not answer.
func (c *Cluster) door(saved *host, open hypervisor.Spaces) cluster.NodeID {
	if _, ok := open[saved.ID]; ok {
		return saved.ID
	}
	for _, h := range c.order {
		if _, ok := open[h.ID]; ok && h.Pool == saved.Pool {
			return h.ID
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

// startSave begins to write the image. A running copy is paused for it, and runs
// again should the save fail (row 6a).
func (c *Cluster) startSave(op *operation) (time.Duration, *failure) {
	m, f := c.present(op)
	if f != nil {
		return 0, f
	}
	h, id := c.hosts[m.Node], op.Call.Image
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
	if f := c.reached(h); f != nil {
		return 0, f
	}
	op.Ran = m.State == hypervisor.CopyRunning
	if op.Ran {
		c.stop(m, hypervisor.CopyPaused)
		c.tell(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Mem)
	}
	c.begin(m, hypervisor.JobSaving, op)
	c.images[id] = &image{ID: id, Node: h.ID, Pool: h.Pool, Mem: m.Mem, Written: c.now}
	c.tell(Change{Kind: SaveBegun, VM: m.VM, Node: m.Node, Image: id}, &m.Mem)
	return c.cfg.Profile.Save.Of(m.Mem.Spec.Reserved.Memory), nil
}

// finishSave completes the image and removes the copy. An image that was deleted
// meanwhile takes the memory with it.
func (c *Cluster) finishSave(op *operation) *failure {
	m, f := c.present(op)
	if f != nil || m.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	h := c.hosts[m.Node]
	need := m.Mem.Spec.Reserved.Memory
	if op.Cut == cutFull || op.Cut == cutFullLeft || h.has(DiskFull) || c.free(h.Pool) < need {
		full := failed(hypervisor.ErrNoSpace, "save %s on %s: no space left on device", m.VM, m.Node)
		c.cancelSave(m, op.Cut == cutFullLeft, full)
		return full
	}
	if i := c.images[op.Call.Image]; i != nil && i.Node == h.ID {
		i.Complete, i.Bytes, i.Mem, i.Written = true, int64(need)<<20, m.Mem, c.now
	}
	m.Job, m.Op = hypervisor.JobNone, 0
	c.drop(m)
	c.tell(Change{Kind: Saved, VM: m.VM, Node: m.Node, Image: op.Call.Image}, &m.Mem)
	return nil
}

// cancelSave ends a save that fails: the file stays, partial, or is removed, and
// the copy goes back to what it was before.
func (c *Cluster) cancelSave(m *machine, leave bool, why *failure) {
	op := c.ops[m.Op]
	if i := c.images[op.Call.Image]; leave && i != nil {
		i.Bytes, i.Written = int64(m.Mem.Spec.Reserved.Memory)<<19, c.now // half of it was written
	} else {
		c.tear(op.Call.Image)
	}
	c.release(m)
	if op.Ran && m.State == hypervisor.CopyPaused && c.holder(m.VM, m.Node) == nil {
		c.unpause(m)
	}
	c.end(op, hypervisor.Receipt{}, why)
}

// tear removes the file of a save that failed.
func (c *Cluster) tear(id hypervisor.ImageID) {
	if i := c.images[id]; i != nil && !i.Complete {
		delete(c.images, id)
		c.tell(Change{Kind: Discarded, VM: id.VM, Node: i.Node, Image: id}, &i.Mem)
	}
}

func (c *Cluster) startSeal(op *operation) (time.Duration, *failure) {
	i, f := c.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return 0, f
	}
	return c.cfg.Profile.Seal.Of(i.Mem.Spec.Reserved.Memory), nil
}

// finishSeal makes the image and its checksum durable. Sealed again, the image
// must still be what it was then.
func (c *Cluster) finishSeal(op *operation) (hypervisor.Receipt, *failure) {
	i, f := c.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return hypervisor.Receipt{}, f
	}
	if i.Sum != "" && i.Sum != i.checksum() {
		return hypervisor.Receipt{}, failed(hypervisor.ErrBadImage, "image %s: is not what was sealed", i.ID)
	}
	i.Durable, i.Sum = true, i.checksum()
	c.tell(Change{Kind: Sealed, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
	return hypervisor.Receipt{Bytes: i.Bytes, Checksum: i.checksum(), Incarnation: i.Mem.Stamp.Incarnation}, nil
}

// finishDiscard deletes the image. That it is gone already is as good.
func (c *Cluster) finishDiscard(op *operation) *failure {
	if f := c.reached(c.hosts[op.Call.Node]); f != nil {
		return f
	}
	if i := c.images[op.Call.Image]; i != nil {
		delete(c.images, i.ID)
		good := i.Complete && i.Rot == 0 && !i.Mem.Corrupt
		c.tell(Change{Kind: Discarded, VM: i.ID.VM, Node: i.Node, Image: i.ID, Good: good}, &i.Mem)
	}
	return nil
}
