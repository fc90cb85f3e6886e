package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
)

// Maintenance mode is a drain that ends by itself ("VMware Distributed Resource Management", 2012, §2): a node that enters
// it is draining, and is offline as soon as it is empty, until an administrator declares it ready.

// MaintenanceStatus is how far a node is on its way into maintenance.
type MaintenanceStatus struct {
	cluster.Maintenance
	Empty  bool           // the node is in maintenance: nothing is on it
	Left   int            // VMs that are still there
	Moving []cluster.VMID // of those, the VMs with an action under way
	Stays  string         // what no plan takes off the node, and why; "" if nothing
	// End is when the present plans have emptied the node; zero if unknown.
	End time.Time
}

// Maintain lets some nodes enter maintenance, all or none. Nodes in maintenance stay as they are. A node
// that is down is ErrConflict: what was there is lost already.
func (c *Core) Maintain(now time.Time, ids []cluster.NodeID, reason, by string) error {
	c.now = now
	for _, id := range ids {
		switch n, ok := c.exec.Node(id); {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case n.State == cluster.Down:
			return fmt.Errorf("node %s is down: put it online before its maintenance: %w", id, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		n, _ := c.exec.Node(id)
		if n.Maintenance != nil {
			continue
		}
		n.Maintenance = &cluster.Maintenance{By: by, Reason: reason, Since: now.UTC(), VMs: len(n.VMs)}
		if n.State == cluster.Online {
			n.State = cluster.Draining
		}
		c.declare(n.Node, fmt.Sprintf("node %s enters maintenance: by %s%s", id, by, because(reason)))
	}
	c.finishMaintenance()
	return nil
}

// Ready lets some nodes leave maintenance, all or none: they take VMs again.
func (c *Core) Ready(now time.Time, ids []cluster.NodeID, by string) error {
	c.now = now
	for _, id := range ids {
		switch n, ok := c.exec.Node(id); {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case n.Maintenance == nil:
			return fmt.Errorf("node %s is %s and not in maintenance: vjob nodes online puts it back: %w", id, n.State, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		n, _ := c.exec.Node(id)
		text := fmt.Sprintf("node %s leaves maintenance after %s: by %s", id, now.Sub(n.Maintenance.Since).Round(time.Second), by)
		n.State, n.Maintenance = cluster.Online, nil
		c.declare(n.Node, text)
	}
	return nil
}

// finishMaintenance takes the nodes offline that have become empty for their maintenance.
func (c *Core) finishMaintenance() {
	for _, id := range c.exec.Names() {
		n, _ := c.exec.Node(id)
		if n.Maintenance == nil || n.State != cluster.Draining || !c.exec.AllSeen() || c.exec.PowerStates.InUse(id) != "" {
			continue
		}
		n.State = cluster.Offline
		m := n.Maintenance
		c.declare(n.Node, fmt.Sprintf("node %s is empty and in maintenance after %s: by %s%s", id, c.now.Sub(m.Since).Round(time.Second), m.By, because(m.Reason)))
	}
}

// declare records the state of a known node, with an event.
func (c *Core) declare(n cluster.Node, text string) {
	c.exec.SetNode(c.now, n)
	c.power.controller.NodeStateSet(c.now, n.ID, n.State)
	c.out.Nodes = append(c.out.Nodes, n)
	c.out.Events = append(c.out.Events, journal.Event{At: c.now, Kind: journal.EventNode, Node: n.ID, Text: text})
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// expectDepartures records when a plan takes the last VM off each node.
func (c *Core) expectDepartures(plan *ctxswitch.Plan) {
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if at := c.now.Add(a.End); a.From != "" && a.To != a.From && at.After(c.departures[a.From]) {
			c.departures[a.From] = at
		}
	}
}

// maintenanceStatus reports a node that is in maintenance or enters it; nil for others.
func (c *Core) maintenanceStatus(n *execute.NodeReport, actions []execute.ActiveAction) *MaintenanceStatus {
	if n.Maintenance == nil {
		return nil
	}
	s := &MaintenanceStatus{Maintenance: *n.Maintenance, Empty: n.State == cluster.Offline, Left: len(n.VMs), Stays: c.last.undrained[n.ID]}
	if s.Left == 0 {
		if !s.Empty {
			s.Stays = c.exec.PowerStates.InUse(n.ID)
		}
		return s
	}
	for i := range actions {
		a := &actions[i]
		if a.From != n.ID {
			continue
		}
		s.Moving = append(s.Moving, a.VM)
		if at := a.Began.Add(a.Expected); at.After(s.End) {
			s.End = at
		}
	}
	if at := c.departures[n.ID]; at.After(s.End) {
		s.End = at
	}
	if s.Stays != "" || !s.End.After(c.now) {
		s.End = time.Time{} // some VM has no plan, or the plan is late
	}
	return s
}
