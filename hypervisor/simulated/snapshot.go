package simulated

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// snapshotFormat is the version of the snapshot format.
const snapshotFormat = 1

// snapshot is the state of a cluster that is not in its configuration: all of it, or what has
// changed since an earlier snapshot.
type snapshot struct {
	Format   int            `json:"format"`
	Start    time.Time      `json:"start"`
	Random   []byte         `json:"random"`
	Now      simTime        `json:"now_ns"`
	Seq      int64          `json:"seq"`
	Serial   int64          `json:"serial"`
	Rates    Rates          `json:"rates"`
	Healed   bool           `json:"healed,omitempty"`
	Agenda   []event        `json:"agenda,omitempty"`
	Hosts    []nodeSnapshot `json:"hosts,omitempty"`
	Machines []*machine     `json:"machines,omitempty"` // all copies of the VMs
	Ops      []*operation   `json:"ops,omitempty"`
	Images   []*image       `json:"images,omitempty"`
	Revoked  []revocation   `json:"revoked,omitempty"`
	Disks    []diskSnapshot `json:"disks,omitempty"`
	Apps     []*app         `json:"apps,omitempty"` // with the ranks that made progress
	Consoles []*console     `json:"consoles,omitempty"`
	Armed    []Fault        `json:"armed,omitempty"`
	Gone     *gone          `json:"gone,omitempty"`
}

// gone is what an earlier snapshot has and the cluster has not any more.
type gone struct {
	Events   []int64              `json:"events,omitempty"`
	VMs      []cluster.VMID       `json:"vms,omitempty"`
	Ops      []int64              `json:"ops,omitempty"`
	Images   []hypervisor.ImageID `json:"images,omitempty"`
	Revoked  []hypervisor.ImageID `json:"revoked,omitempty"`
	Disks    []Disk               `json:"disks,omitempty"`
	Apps     []appKey             `json:"apps,omitempty"`
	Consoles []cluster.VMID       `json:"consoles,omitempty"`
}

type nodeSnapshot struct {
	ID       cluster.NodeID      `json:"id"`
	Capacity cluster.Resources   `json:"capacity"`
	Troubles []lastingFault      `json:"troubles,omitempty"`
	Queued   []int64             `json:"queued,omitempty"`
	Endings  []hypervisor.Ending `json:"endings,omitempty"` // the new ones
	Hinted   bool                `json:"hinted,omitempty"`
	Listing  []hypervisor.Image  `json:"listing,omitempty"`
}

type diskSnapshot struct {
	Disk
	Epoch int `json:"epoch"`
}

type revocation struct {
	Image   hypervisor.ImageID `json:"image"`
	Attempt int                `json:"attempt"`
}

// Snapshot returns the state as JSON, without what [Cluster.Advance] has not returned yet.
func (c *Cluster) Snapshot() ([]byte, error) {
	s, err := c.snapshot(everything(c), true)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// Changes returns as JSON what has changed since the last call, in the form of a snapshot; the
// first call returns the whole state.
func (c *Cluster) Changes() ([]byte, error) {
	s, err := c.changes()
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// changes returns what has changed since the last call; it shares memory with the cluster.
func (c *Cluster) changes() (*snapshot, error) {
	t, whole := c.touched, !c.touched.records()
	if whole {
		t = everything(c)
	}
	s, err := c.snapshot(t, whole)
	if err != nil {
		return nil, err
	}
	for vm := range t.consoles {
		if k := c.guests.consoles.byVM[vm]; k != nil {
			k.saved = k.printed()
		}
	}
	for id := range t.nodes {
		c.nodes.byID[id].newEndings = 0
	}
	*c.touched = newTouched()
	return s, nil
}

// touchAll makes the next [Cluster.Changes] return the whole state.
func (c *Cluster) touchAll() { *c.touched = touched{} }

// snapshot returns the state of the parts that were touched. Unless it is whole, it omits the text
// of consoles and the endings of nodes that were saved.
func (c *Cluster) snapshot(t *touched, whole bool) (*snapshot, error) {
	random, err := c.random.source.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := &snapshot{
		Format: snapshotFormat, Start: c.clock.start, Random: random, Now: c.clock.now, Seq: c.clock.seq, Serial: c.ops.serial,
		Rates: c.faults.rates, Healed: c.faults.healed, Armed: c.faults.armed,
	}
	g := &gone{Events: t.happened.sorted(cmp.Compare)}
	for _, seq := range slices.Sorted(maps.Keys(t.pending)) {
		if e := t.pending[seq]; !c.void(&e) {
			s.Agenda = append(s.Agenda, e)
		}
	}
	for _, id := range t.nodes.sorted(cmp.Compare) {
		s.Hosts = append(s.Hosts, c.nodes.byID[id].snapshot(whole))
	}
	copies, without := existing(t.vms, c.nodes.copies, cluster.VMID.Compare)
	s.Machines, g.VMs = slices.Concat(copies...), without
	s.Ops, g.Ops = existing(t.ops, c.ops.byID, cmp.Compare)
	s.Images, g.Images = existing(t.images, c.store.images, compareIDs)
	for _, id := range t.revoked.sorted(compareIDs) {
		if attempt, exists := c.store.revoked[id]; exists {
			s.Revoked = append(s.Revoked, revocation{id, attempt})
		} else {
			g.Revoked = append(g.Revoked, id)
		}
	}
	for _, d := range t.disks.sorted(compareDisks) {
		if epoch, exists := c.guests.epochs[d]; exists {
			s.Disks = append(s.Disks, diskSnapshot{d, epoch})
		} else {
			g.Disks = append(g.Disks, d)
		}
	}
	s.Apps, g.Apps = c.guests.touchedApps(t)
	consoles, removed := existing(t.consoles, c.guests.consoles.byVM, cluster.VMID.Compare)
	g.Consoles = removed
	for _, k := range consoles {
		s.Consoles = append(s.Consoles, k.unsaved(whole))
	}
	if !g.empty() {
		s.Gone = g
	}
	return s, nil
}

func (g *gone) empty() bool {
	return len(g.Events)+len(g.VMs)+len(g.Ops)+len(g.Images)+len(g.Revoked)+len(g.Disks)+len(g.Apps)+len(g.Consoles) == 0
}

// snapshot returns the state of the node: with the endings that are not saved yet, or with all of them.
func (n *node) snapshot(whole bool) nodeSnapshot {
	s := nodeSnapshot{ID: n.ID, Capacity: n.Capacity, Queued: n.queued, Endings: n.endings, Hinted: n.hinted, Listing: n.listing}
	if !whole {
		s.Endings = n.endings[len(n.endings)-min(n.newEndings, len(n.endings)):]
	}
	if n.faults != [faultKinds]lastingFault{} {
		s.Troubles = n.faults[:lastingKinds]
	}
	return s
}

// pristine reports whether the state of the node is that of a new one.
func (n *node) pristine() bool {
	return n.faults == [faultKinds]lastingFault{} && len(n.copies)+len(n.queued)+len(n.endings) == 0 && !n.hinted && n.listing == nil
}

// touchedApps returns the applications with the ranks that made progress.
func (g *guests) touchedApps(t *touched) (apps []*app, removed []appKey) {
	found, removed := existing(t.apps, g.apps, compareApps)
	parts := map[appKey]*app{}
	for _, a := range found {
		part := *a
		part.Reached, part.Ended = map[int]int{}, map[int]bool{}
		apps, parts[a.Key] = append(apps, &part), &part
	}
	for member := range t.ranks {
		if a, exists := g.apps[member.app]; exists {
			parts[member.app].Reached[member.rank] = a.Reached[member.rank]
			parts[member.app].Ended[member.rank] = a.Ended[member.rank]
		}
	}
	return apps, removed
}
