package simulated

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

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

// imageStore holds the images of all nodes, in their pools.
type imageStore struct {
	touched  *touched
	clock    *clock
	random   *random
	nodes    *nodes
	faults   *faultPlan
	observer *observer

	pools  map[string]cluster.MiB // see [Config]
	seed   uint64
	images map[hypervisor.ImageID]*image
	// revoked is the highest attempt to restore each image that may not succeed.
	revoked map[hypervisor.ImageID]int
}

// sorted lists the images in order of VMs, generations and attempts.
func (st *imageStore) sorted() []*image {
	return slices.SortedFunc(maps.Values(st.images), func(a, b *image) int { return compareIDs(a.ID, b.ID) })
}

func compareIDs(a, b hypervisor.ImageID) int {
	return cmp.Or(a.VM.Compare(b.VM), cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Attempt, b.Attempt))
}

// readable returns an image that a node can read, or the failure.
func (st *imageStore) readable(id hypervisor.ImageID, from cluster.NodeID) (*image, *failure) {
	i := st.images[id]
	n := st.nodes.byID[from]
	if f := st.failureOn(n); f != nil {
		return nil, f
	}
	switch {
	case i == nil:
		return nil, newFailure(hypervisor.ErrNoImage, "image %s: no such file", id)
	case !i.Complete:
		return nil, newFailure(hypervisor.ErrBadImage, "image %s: save image is incomplete", id)
	case n.Pool != i.Pool && !slices.ContainsFunc(st.nodes.sorted, func(o *node) bool {
		return o.Pool == i.Pool && o.up() && !o.has(Freeze) && !o.has(StoreGone)
	}):
		return nil, newFailure(hypervisor.ErrNoImage, "image %s: no node with pool %s answers", id, i.Pool)
	}
	return i, nil
}

// free is the free space in a pool.
func (st *imageStore) free(pool string) cluster.MiB {
	size, limited := st.pools[pool]
	if !limited {
		size = 1 << 40
	}
	var used int64
	for _, i := range st.images {
		if i.Pool == pool {
			used += i.Bytes
		}
	}
	const mib = 1 << 20
	return size - cluster.MiB(math.Ceil(float64(used)/mib))
}

// look lists the images that can be read now.
func (st *imageStore) look() (hypervisor.Store, error) {
	s := hypervisor.Store{Free: hypervisor.Spaces{}}
	pools, foreign := map[string]cluster.MiB{}, st.foreignMounts()
	for _, n := range st.nodes.sorted {
		if n.unreachable() != nil || n.has(StoreGone) {
			continue
		}
		if f := st.listable(n, foreign); f != nil {
			return hypervisor.Store{}, f
		}
		free, known := pools[n.Pool]
		if !known {
			free = st.free(n.Pool)
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
	s.Images = st.listReachable(s.Free)
	return s, nil
}

// reachableVia is the node through which an image can be reached: the node that saved it, or
// another node of its pool while that node does not answer.
func (st *imageStore) reachableVia(saved *node, open hypervisor.Spaces) cluster.NodeID {
	if _, ok := open[saved.ID]; ok {
		return saved.ID
	}
	for _, n := range st.nodes.sorted {
		if _, ok := open[n.ID]; ok && n.Pool == saved.Pool {
			return n.ID
		}
	}
	return saved.ID
}

// create adds the file of a save that begins.
func (st *imageStore) create(id hypervisor.ImageID, n *node, m *machine) {
	st.touched.images.add(id)
	st.images[id] = &image{ID: id, Node: n.ID, Pool: n.Pool, Mem: m.Memory, Written: st.clock.now}
	st.observer.report(Change{Kind: SaveBegun, VM: m.VM, Node: n.ID, Image: id}, &m.Memory)
}

// complete marks an image complete and stores the memory of the copy in it, unless it was deleted.
func (st *imageStore) complete(id hypervisor.ImageID, m *machine) {
	if i := st.images[id]; i != nil && i.Node == m.Node {
		st.touched.images.add(id)
		i.Complete, i.Bytes, i.Mem, i.Written = true, m.bytes(), m.Memory, st.clock.now
	}
}

// keepPartial keeps the file of a save that failed: half of it was written.
func (st *imageStore) keepPartial(id hypervisor.ImageID, m *machine) {
	if i := st.images[id]; i != nil {
		st.touched.images.add(id)
		i.Bytes, i.Written = m.bytes()/2, st.clock.now
	}
}

// removePartial removes the file of a save that failed.
func (st *imageStore) removePartial(id hypervisor.ImageID) {
	if i := st.images[id]; i != nil && !i.Complete {
		delete(st.images, id)
		st.touched.images.add(id)
		st.observer.report(Change{Kind: Discarded, VM: id.VM, Node: i.Node, Image: id}, &i.Mem)
	}
}

// seal makes the image and its checksum durable. It verifies an image that was sealed before.
func (st *imageStore) seal(op *operation) (hypervisor.Receipt, *failure) {
	i, f := st.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return hypervisor.Receipt{}, f
	}
	if i.Sum != "" && i.Sum != i.checksum() {
		return hypervisor.Receipt{}, newFailure(hypervisor.ErrBadImage, "image %s: is not what was sealed", i.ID)
	}
	st.touched.images.add(i.ID)
	i.Durable, i.Sum = true, i.checksum()
	st.observer.report(Change{Kind: Sealed, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
	return hypervisor.Receipt{Bytes: i.Bytes, Checksum: i.checksum(), Incarnation: i.Mem.Stamp.Incarnation}, nil
}

// sealed lists the sealed images: random bit rot affects only these.
func (st *imageStore) sealed() []*image {
	var list []*image
	for _, i := range st.sorted() {
		if i.Durable {
			list = append(list, i)
		}
	}
	return list
}

// discard deletes the image. A missing image is no failure.
func (st *imageStore) discard(op *operation) *failure {
	if f := st.failureOn(st.nodes.byID[op.Call.Node]); f != nil {
		return f
	}
	if i := st.images[op.Call.Image]; i != nil {
		delete(st.images, i.ID)
		st.touched.images.add(i.ID)
		good := i.Complete && i.Rot == 0 && !i.Mem.Corrupt
		st.observer.report(Change{Kind: Discarded, VM: i.ID.VM, Node: i.Node, Image: i.ID, Good: good}, &i.Mem)
	}
	return nil
}

// revoke revokes the attempts up to one, including queued ones. An attempt that has opened its image
// continues: on Linux an open file outlives its link.
func (st *imageStore) revoke(op *operation) *failure {
	id, attempt := op.Call.Image, op.Call.Attempt
	if f := st.failureOn(st.nodes.byID[op.Call.Node]); f != nil {
		return f
	}
	if last, ok := st.revoked[id]; !ok || attempt > last {
		st.revoked[id] = attempt
		st.touched.revoked.add(id)
	}
	st.observer.report(Change{Kind: Revoked, VM: id.VM, Node: op.Call.Node, Image: id, Attempt: attempt}, nil)
	return nil
}

// revokedFailure returns the failure of an attempt that was revoked, or nil.
func (st *imageStore) revokedFailure(op *operation) *failure {
	if last, ok := st.revoked[op.Call.Image]; ok && op.Call.Attempt <= last {
		return refuse(op, "the attempt was revoked")
	}
	return nil
}
