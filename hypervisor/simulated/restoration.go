package simulated

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Restore builds a cluster that continues from a snapshot and the changes since. The configuration
// may differ: another profile, locks, pools and rates apply from now on, and nodes may be added.
// Removing a node that holds copies is ErrConflict.
func Restore(cfg Config, data ...[]byte) (*Cluster, error) {
	r, err := newRestoration(cfg)
	if err != nil {
		return nil, err
	}
	for _, d := range data {
		var s snapshot
		if err := json.Unmarshal(d, &s); err != nil {
			return nil, fmt.Errorf("restore the simulated cluster: %w", err)
		}
		if err := r.apply(&s); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// restoration is a cluster that is being restored.
type restoration struct {
	cluster *Cluster
	agenda  map[int64]event
	copies  map[cluster.VMID][]*machine
	saved   map[cluster.NodeID]cluster.Resources // capacities
	rates   Rates
}

func newRestoration(cfg Config) (*restoration, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &restoration{
		cluster: build(cfg), agenda: map[int64]event{}, copies: map[cluster.VMID][]*machine{}, saved: map[cluster.NodeID]cluster.Resources{},
	}, nil
}

// apply adds a snapshot or changes to the state.
func (r *restoration) apply(s *snapshot) error {
	if s.Format != snapshotFormat {
		return fmt.Errorf("restore the simulated cluster: %w", cluster.BadField("format", s.Format, fmt.Sprint(snapshotFormat)))
	}
	c := r.cluster
	if err := c.random.source.UnmarshalBinary(s.Random); err != nil {
		return fmt.Errorf("restore the simulated cluster: %w", err)
	}
	c.clock.start, c.clock.now, c.clock.seq, c.ops.serial = s.Start, s.Now, s.Seq, s.Serial
	c.faults.healed, c.faults.armed, r.rates = s.Healed, s.Armed, s.Rates
	if s.Gone != nil {
		r.remove(s.Gone)
	}
	for _, e := range s.Agenda {
		r.agenda[e.Seq] = e
	}
	for _, n := range s.Hosts {
		r.applyNode(&n)
	}
	for _, m := range s.Machines {
		delete(r.copies, m.VM)
	}
	for _, m := range s.Machines {
		r.copies[m.VM] = append(r.copies[m.VM], m)
	}
	for _, op := range s.Ops {
		c.ops.byID[op.Serial] = op
	}
	for _, i := range s.Images {
		c.store.images[i.ID] = i
	}
	for _, v := range s.Revoked {
		c.store.revoked[v.Image] = v.Attempt
	}
	for _, d := range s.Disks {
		c.guests.epochs[d.Disk] = d.Epoch
	}
	for _, a := range s.Apps {
		if earlier, exists := c.guests.apps[a.Key]; exists {
			maps.Copy(earlier.Reached, a.Reached)
			maps.Copy(earlier.Ended, a.Ended)
			a.Reached, a.Ended = earlier.Reached, earlier.Ended
		}
		c.guests.apps[a.Key] = a
	}
	for _, k := range s.Consoles {
		c.guests.consoles.restore(k)
	}
	return nil
}

// remove removes what is gone.
func (r *restoration) remove(g *gone) {
	c := r.cluster
	deleteAll(r.agenda, g.Events)
	deleteAll(r.copies, g.VMs)
	deleteAll(c.ops.byID, g.Ops)
	deleteAll(c.store.images, g.Images)
	deleteAll(c.store.revoked, g.Revoked)
	deleteAll(c.guests.epochs, g.Disks)
	deleteAll(c.guests.apps, g.Apps)
	deleteAll(c.guests.consoles.byVM, g.Consoles)
}

func deleteAll[K comparable, V any](from map[K]V, gone []K) {
	for _, k := range gone {
		delete(from, k)
	}
}

// applyNode restores a node, apart from its copies.
func (r *restoration) applyNode(s *nodeSnapshot) {
	r.saved[s.ID] = s.Capacity
	n, ok := r.cluster.nodes.byID[s.ID]
	if !ok {
		return
	}
	clear(n.faults[:])
	copy(n.faults[:], s.Troubles)
	n.queued, n.hinted, n.listing = s.Queued, s.Hinted, s.Listing
	n.endings = append(n.endings, s.Endings...)
	n.endings = n.endings[max(0, len(n.endings)-maxEndings):]
}

// finish returns the cluster.
func (r *restoration) finish() (*Cluster, error) {
	c := r.cluster
	for _, id := range slices.SortedFunc(maps.Keys(r.copies), cluster.VMID.Compare) {
		for _, m := range r.copies[id] {
			n, ok := c.nodes.byID[m.Node]
			if !ok {
				return nil, fmt.Errorf("restore the simulated cluster: node %s holds VM %s and is not in the settings: %w",
					m.Node, m.VM, cluster.ErrConflict)
			}
			c.nodes.add(m)
			if m.State == hypervisor.CopyRunning {
				n.demand += m.cappedDemand()
			}
		}
	}
	for _, n := range c.nodes.sorted {
		n.granted = n.divide()
	}
	for _, n := range c.nodes.sorted {
		if before, known := r.saved[n.ID]; known && n.Capacity != before {
			c.guests.reshare(n)
		}
	}
	maps.DeleteFunc(c.ops.byID, func(_ int64, op *operation) bool {
		_, known := c.nodes.byID[op.Call.Node]
		return !known && !op.Over
	})
	r.restoreEvents()
	return c, nil
}

// restoreEvents restores the pending events. Random faults are drawn again if their rates have
// changed.
func (r *restoration) restoreEvents() {
	c := r.cluster
	sameRates := r.rates == c.faults.rates
	c.clock.events = nil
	for _, seq := range slices.Sorted(maps.Keys(r.agenda)) {
		e := r.agenda[seq]
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
