package simulated

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
)

// keys is a set of keys; nil records nothing.
type keys[K comparable] map[K]struct{}

func (s keys[K]) add(k K) {
	if s != nil {
		s[k] = struct{}{}
	}
}

// sorted lists the keys in an order.
func (s keys[K]) sorted(compare func(a, b K) int) []K {
	list := make([]K, 0, len(s))
	for k := range s {
		list = append(list, k)
	}
	slices.SortFunc(list, compare)
	return list
}

// touched names the parts of the state that were created, changed or removed since they were last
// saved. The code that changes a part adds it. The zero value records nothing.
type touched struct {
	nodes    keys[cluster.NodeID] // apart from their copies
	vms      keys[cluster.VMID]   // with changed copies
	ops      keys[int64]
	images   keys[hypervisor.ImageID]
	revoked  keys[hypervisor.ImageID]
	disks    keys[Disk]
	apps     keys[appKey]
	ranks    keys[appRank]
	consoles keys[cluster.VMID]
	pending  map[int64]event // new events by their numbers
	happened keys[int64]     // events that were saved and are over
}

// appRank is a member of an application.
type appRank struct {
	app  appKey
	rank int
}

func newTouched() touched {
	return touched{
		nodes: keys[cluster.NodeID]{}, vms: keys[cluster.VMID]{}, ops: keys[int64]{},
		images: keys[hypervisor.ImageID]{}, revoked: keys[hypervisor.ImageID]{}, disks: keys[Disk]{},
		apps: keys[appKey]{}, ranks: keys[appRank]{}, consoles: keys[cluster.VMID]{},
		pending: map[int64]event{}, happened: keys[int64]{},
	}
}

// records reports whether changes are recorded.
func (t *touched) records() bool { return t.nodes != nil }

// scheduled records a new event.
func (t *touched) scheduled(e *event) {
	if t.records() {
		t.pending[e.Seq] = *e
	}
}

// over records that an event has happened.
func (t *touched) over(e *event) {
	if _, unsaved := t.pending[e.Seq]; unsaved {
		delete(t.pending, e.Seq)
		return
	}
	t.happened.add(e.Seq)
}

// everything touches the whole state of a cluster.
func everything(c *Cluster) *touched {
	t := newTouched()
	for _, n := range c.nodes.sorted {
		if !n.pristine() {
			t.nodes.add(n.ID)
		}
	}
	addAll(t.vms, c.nodes.copies)
	addAll(t.ops, c.ops.byID)
	addAll(t.images, c.store.images)
	addAll(t.revoked, c.store.revoked)
	addAll(t.disks, c.guests.epochs)
	addAll(t.consoles, c.guests.consoles.byVM)
	addAll(t.apps, c.guests.apps)
	for key, a := range c.guests.apps {
		for rank := range a.Reached {
			t.ranks.add(appRank{key, rank})
		}
	}
	for _, e := range c.clock.events {
		t.pending[e.Seq] = e
	}
	return &t
}

func addAll[K comparable, V any](set keys[K], of map[K]V) {
	for k := range of {
		set.add(k)
	}
}

// existing returns the values of the touched keys, and the keys that have none any more.
func existing[K comparable, V any](set keys[K], of map[K]V, compare func(a, b K) int) (values []V, gone []K) {
	for _, k := range set.sorted(compare) {
		if v, exists := of[k]; exists {
			values = append(values, v)
		} else {
			gone = append(gone, k)
		}
	}
	return values, gone
}

func compareDisks(a, b Disk) int {
	return cmp.Or(a.VM.Compare(b.VM), cmp.Compare(a.Incarnation, b.Incarnation))
}

func compareApps(a, b appKey) int {
	return cmp.Or(cmp.Compare(a.VJob, b.VJob), cmp.Compare(a.Incarnation, b.Incarnation))
}
