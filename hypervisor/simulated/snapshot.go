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

// snapshot is the state of a cluster that is not in its configuration.
type snapshot struct {
	Format   int            `json:"format"`
	Start    time.Time      `json:"start"`
	Random   []byte         `json:"random"`
	Now      simTime        `json:"now_ns"`
	Seq      int64          `json:"seq"`
	Serial   int64          `json:"serial"`
	Rates    Rates          `json:"rates"`
	Healed   bool           `json:"healed"`
	Agenda   []event        `json:"agenda"`
	Hosts    []nodeSnapshot `json:"hosts"`
	Machines []*machine     `json:"machines"`
	Ops      []*operation   `json:"ops"`
	Images   []*image       `json:"images"`
	Revoked  []revocation   `json:"revoked"`
	Disks    []diskSnapshot `json:"disks"`
	Apps     []*app         `json:"apps"`
	Consoles []*console     `json:"consoles"`
	Armed    []Fault        `json:"armed"`
}

type nodeSnapshot struct {
	ID       cluster.NodeID      `json:"id"`
	Capacity cluster.Resources   `json:"capacity"`
	Troubles []lastingFault      `json:"troubles"`
	Queued   []int64             `json:"queued"`
	Endings  []hypervisor.Ending `json:"endings"`
	Hinted   bool                `json:"hinted"`
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
	random, err := c.random.source.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := snapshot{
		Format: snapshotFormat, Start: c.clock.start, Random: random, Now: c.clock.now, Seq: c.clock.seq, Serial: c.ops.serial,
		Rates: c.faults.rates, Healed: c.faults.healed, Images: c.store.sorted(), Armed: c.faults.armed,
	}
	for i := range c.clock.events {
		if !c.void(&c.clock.events[i]) {
			s.Agenda = append(s.Agenda, c.clock.events[i])
		}
	}
	for _, n := range c.nodes.sorted {
		s.Hosts = append(s.Hosts, nodeSnapshot{n.ID, n.Capacity, n.faults[:lastingKinds], n.queued, n.endings, n.hinted, n.listing})
	}
	for _, id := range c.nodes.sortedVMs() {
		s.Machines = append(s.Machines, c.nodes.copies[id]...)
	}
	for _, serial := range slices.Sorted(maps.Keys(c.ops.byID)) {
		s.Ops = append(s.Ops, c.ops.byID[serial])
	}
	for d, epoch := range c.guests.epochs {
		s.Disks = append(s.Disks, diskSnapshot{d, epoch})
	}
	slices.SortFunc(s.Disks, func(a, b diskSnapshot) int {
		return cmp.Or(a.VM.Compare(b.VM), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	for id, attempt := range c.store.revoked {
		s.Revoked = append(s.Revoked, revocation{id, attempt})
	}
	slices.SortFunc(s.Revoked, func(a, b revocation) int {
		return compareIDs(a.Image, b.Image)
	})
	s.Apps = slices.SortedFunc(maps.Values(c.guests.apps), func(a, b *app) int {
		return cmp.Or(cmp.Compare(a.Key.VJob, b.Key.VJob), cmp.Compare(a.Key.Incarnation, b.Key.Incarnation))
	})
	s.Consoles = slices.SortedFunc(maps.Values(c.guests.consoles.byVM), func(a, b *console) int { return a.VM.Compare(b.VM) })
	return json.Marshal(s)
}

// Restore builds a cluster that continues from a snapshot. The configuration may differ: another
// profile, locks, pools and rates apply from now on, and nodes may be added. Removing a node that
// holds copies is ErrConflict.
func Restore(cfg Config, data []byte) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("restore the simulated cluster: %w", err)
	}
	if s.Format != snapshotFormat {
		return nil, fmt.Errorf("restore the simulated cluster: %w",
			cluster.BadField("format", s.Format, fmt.Sprint(snapshotFormat)))
	}
	cfg.Start = s.Start
	c := build(cfg)
	if err := c.random.source.UnmarshalBinary(s.Random); err != nil {
		return nil, fmt.Errorf("restore the simulated cluster: %w", err)
	}
	c.clock.now, c.clock.seq, c.ops.serial, c.faults.healed, c.faults.armed = s.Now, s.Seq, s.Serial, s.Healed, s.Armed
	for _, d := range s.Disks {
		c.guests.epochs[d.Disk] = d.Epoch
	}
	for _, i := range s.Images {
		c.store.images[i.ID] = i
	}
	for _, r := range s.Revoked {
		c.store.revoked[r.Image] = r.Attempt
	}
	for _, a := range s.Apps {
		c.guests.apps[a.Key] = a
	}
	for _, k := range s.Consoles {
		c.guests.consoles.byVM[k.VM] = k
	}
	if err := c.restoreNodes(&s); err != nil {
		return nil, err
	}
	c.restoreEvents(&s)
	return c, nil
}

// restoreNodes restores the nodes, copies and operations.
func (c *Cluster) restoreNodes(s *snapshot) error {
	for _, saved := range s.Hosts {
		n, ok := c.nodes.byID[saved.ID]
		if !ok {
			continue
		}
		copy(n.faults[:], saved.Troubles)
		n.queued, n.endings = saved.Queued, saved.Endings
		n.hinted, n.listing = saved.Hinted, saved.Listing
	}
	for _, m := range s.Machines {
		n, ok := c.nodes.byID[m.Node]
		if !ok {
			return fmt.Errorf("restore the simulated cluster: node %s holds VM %s and is not in the settings: %w",
				m.Node, m.VM, cluster.ErrConflict)
		}
		c.nodes.add(m)
		if m.State == hypervisor.CopyRunning {
			n.demand += m.cappedDemand()
		}
	}
	for _, n := range c.nodes.sorted {
		n.granted = n.divide()
	}
	for _, saved := range s.Hosts {
		if n, ok := c.nodes.byID[saved.ID]; ok && n.Capacity != saved.Capacity {
			c.guests.reshare(n)
		}
	}
	for _, op := range s.Ops {
		if _, ok := c.nodes.byID[op.Call.Node]; ok || op.Over {
			c.ops.byID[op.Serial] = op
		}
	}
	return nil
}

// restoreEvents restores the pending events. Random faults are drawn again if their rates have
// changed.
func (c *Cluster) restoreEvents(s *snapshot) {
	sameRates := s.Rates == c.faults.rates
	c.clock.events = nil
	for _, e := range s.Agenda {
		if _, known := c.nodes.byID[e.Node]; e.Node != "" && !known {
			continue
		}
		if e.Kind == evFault && !sameRates {
			continue
		}
		c.clock.push(e)
	}
	if !sameRates {
		c.faults.healed = false
		c.faults.plan()
	}
	c.propagate()
}
