package simulated

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// snapshotFormat is the version of the form of snapshots.
const snapshotFormat = 1

// snapshot is all the state of a cluster that its configuration does not tell.
type snapshot struct {
	Format   int            `json:"format"`
	Start    time.Time      `json:"start"`
	Random   []byte         `json:"random"`
	Now      moment         `json:"now_ns"`
	Seq      int64          `json:"seq"`
	Serial   int64          `json:"serial"`
	Rates    Rates          `json:"rates"`
	Healed   bool           `json:"healed"`
	Agenda   []event        `json:"agenda"`
	Hosts    []hostSnapshot `json:"hosts"`
	Machines []*machine     `json:"machines"`
	Ops      []*operation   `json:"ops"`
	Images   []*image       `json:"images"`
	Revoked  []revocation   `json:"revoked"`
	Disks    []diskSnapshot `json:"disks"`
	Apps     []*app         `json:"apps"`
	Consoles []*console     `json:"consoles"`
	Armed    []Fault        `json:"armed"`
}

type hostSnapshot struct {
	ID       cluster.NodeID      `json:"id"`
	Capacity cluster.Resources   `json:"capacity"`
	Troubles []trouble           `json:"troubles"`
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

// Snapshot writes the state as JSON. Happenings that [Cluster.Advance] has not
// yet returned are not part of it.
func (c *Cluster) Snapshot() ([]byte, error) {
	random, err := c.source.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := snapshot{
		Format: snapshotFormat, Start: c.cfg.Start, Random: random, Now: c.now, Seq: c.seq, Serial: c.serial,
		Rates: c.cfg.Faults, Healed: c.healed, Images: c.sortedImages(), Armed: c.armed,
	}
	for i := range c.agenda {
		if !c.void(&c.agenda[i]) {
			s.Agenda = append(s.Agenda, c.agenda[i])
		}
	}
	for _, h := range c.order {
		s.Hosts = append(s.Hosts, hostSnapshot{h.ID, h.Capacity, h.troubles[:lastingKinds], h.queued, h.endings, h.hinted, h.listing})
	}
	for _, id := range slices.SortedFunc(maps.Keys(c.where), cluster.VMID.Compare) {
		s.Machines = append(s.Machines, c.where[id]...)
	}
	for _, serial := range slices.Sorted(maps.Keys(c.ops)) {
		s.Ops = append(s.Ops, c.ops[serial])
	}
	for d, epoch := range c.epochs {
		s.Disks = append(s.Disks, diskSnapshot{d, epoch})
	}
	slices.SortFunc(s.Disks, func(a, b diskSnapshot) int {
		return cmp.Or(a.VM.Compare(b.VM), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	for id, attempt := range c.revoked {
		s.Revoked = append(s.Revoked, revocation{id, attempt})
	}
	slices.SortFunc(s.Revoked, func(a, b revocation) int {
		return compareIDs(a.Image, b.Image)
	})
	s.Apps = slices.SortedFunc(maps.Values(c.apps), func(a, b *app) int {
		return cmp.Or(cmp.Compare(a.Key.VJob, b.Key.VJob), cmp.Compare(a.Key.Incarnation, b.Key.Incarnation))
	})
	s.Consoles = slices.SortedFunc(maps.Values(c.consoles), func(a, b *console) int { return a.VM.Compare(b.VM) })
	return json.Marshal(s)
}

// Restore builds a cluster that goes on from a snapshot. The configuration may
// differ from that of the snapshot: other profile, locks, pools and rates count
// from now on, and nodes may come; one that holds copies may not go.
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
	if err := c.source.UnmarshalBinary(s.Random); err != nil {
		return nil, fmt.Errorf("restore the simulated cluster: %w", err)
	}
	c.now, c.seq, c.serial, c.healed, c.armed = s.Now, s.Seq, s.Serial, s.Healed, s.Armed
	for _, d := range s.Disks {
		c.epochs[d.Disk] = d.Epoch
	}
	for _, i := range s.Images {
		c.images[i.ID] = i
	}
	for _, r := range s.Revoked {
		c.revoked[r.Image] = r.Attempt
	}
	for _, a := range s.Apps {
		c.apps[a.Key] = a
	}
	for _, k := range s.Consoles {
		c.consoles[k.VM] = k
	}
	if err := c.fill(&s); err != nil {
		return nil, err
	}
	c.takeAgenda(&s)
	return c, nil
}

// fill puts back what is on nodes.
func (c *Cluster) fill(s *snapshot) error {
	for _, saved := range s.Hosts {
		h, ok := c.hosts[saved.ID]
		if !ok {
			continue
		}
		copy(h.troubles[:], saved.Troubles)
		h.queued, h.endings = saved.Queued, saved.Endings
		h.hinted, h.listing = saved.Hinted, saved.Listing
	}
	for _, m := range s.Machines {
		h, ok := c.hosts[m.Node]
		if !ok {
			return fmt.Errorf("restore the simulated cluster: node %s holds VM %s and is not in the settings: %w",
				m.Node, m.VM, cluster.ErrConflict)
		}
		h.copies[m.VM] = m
		c.where[m.VM] = append(c.where[m.VM], m)
		if m.State == hypervisor.CopyRunning {
			h.load += m.wants()
		}
	}
	for _, saved := range s.Hosts {
		if h, ok := c.hosts[saved.ID]; ok && h.Capacity != saved.Capacity {
			c.reshare(h)
		}
	}
	for _, op := range s.Ops {
		if _, ok := c.hosts[op.Call.Node]; ok || op.Over {
			c.ops[op.Serial] = op
		}
	}
	return nil
}

// reshare gives the guests of a node whose capacity has changed their new pace.
func (c *Cluster) reshare(h *host) {
	for _, m := range h.sorted() {
		if c.touch(m); m.lockstep() {
			c.markApp(c.app(m))
		}
	}
}

// takeAgenda puts back what is going to happen; random faults are drawn anew when
// their rates have changed.
func (c *Cluster) takeAgenda(s *snapshot) {
	sameRates := s.Rates == c.cfg.Faults
	c.agenda = nil
	for _, e := range s.Agenda {
		if _, known := c.hosts[e.Node]; e.Node != "" && !known {
			continue
		}
		if e.Kind == evFault && !sameRates {
			continue
		}
		heap.Push(&c.agenda, e)
	}
	if !sameRates {
		c.healed = false
		c.planFaults()
	}
	c.settle()
}
