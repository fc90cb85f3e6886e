package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
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
func (s *Nodes) Maintain(now time.Time, ids []cluster.NodeID, reason, by string) error {
	for _, id := range ids {
		switch n, ok := s.exec.Node(id); {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case n.State == cluster.Down:
			return fmt.Errorf("node %s is down: put it online before its maintenance: %w", id, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		n, _ := s.exec.Node(id)
		if n.Maintenance != nil {
			continue
		}
		n.Maintenance = &cluster.Maintenance{By: by, Reason: reason, Since: now.UTC(), VMs: len(n.VMs)}
		if n.State == cluster.Online {
			n.State = cluster.Draining
		}
		s.declare(now, n.Node, fmt.Sprintf("node %s enters maintenance: by %s%s", id, by, because(reason)))
	}
	s.finishMaintenance(now)
	return nil
}

// Ready lets some nodes leave maintenance, all or none: they take VMs again.
func (s *Nodes) Ready(now time.Time, ids []cluster.NodeID, by string) error {
	for _, id := range ids {
		switch n, ok := s.exec.Node(id); {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case n.Maintenance == nil:
			return fmt.Errorf("node %s is %s and not in maintenance: vjob nodes online puts it back: %w", id, n.State, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		n, _ := s.exec.Node(id)
		text := fmt.Sprintf("node %s leaves maintenance after %s: by %s", id, now.Sub(n.Maintenance.Since).Round(time.Second), by)
		n.State, n.Maintenance = cluster.Online, nil
		s.declare(now, n.Node, text)
	}
	return nil
}

// finishMaintenance takes the nodes offline that have become empty for their maintenance.
func (s *Nodes) finishMaintenance(now time.Time) {
	for _, id := range slices.Sorted(maps.Keys(s.entering)) {
		if !s.exec.AllSeen() || s.exec.PowerStates.InUse(id) != "" {
			continue
		}
		n, _ := s.exec.Node(id)
		n.State = cluster.Offline
		m := n.Maintenance
		s.declare(now, n.Node, fmt.Sprintf("node %s is empty and in maintenance after %s: by %s%s", id, now.Sub(m.Since).Round(time.Second), m.By, because(m.Reason)))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// expectDepartures records when a plan takes the last VM off each node.
func (s *Nodes) expectDepartures(now time.Time, plan *ctxswitch.Plan) {
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if at := now.Add(a.End); a.From != "" && a.To != a.From && at.After(s.departures[a.From]) {
			s.departures[a.From] = at
		}
	}
}

// maintenance reports a node that is in maintenance or enters it; nil for others.
// stays is what no plan takes off it.
func (s *Nodes) maintenance(now time.Time, n *execute.NodeReport, actions []execute.ActiveAction, stays string) *MaintenanceStatus {
	if n.Maintenance == nil {
		return nil
	}
	m := &MaintenanceStatus{Maintenance: *n.Maintenance, Empty: n.State == cluster.Offline, Left: len(n.VMs), Stays: stays}
	if m.Left == 0 {
		if !m.Empty {
			m.Stays = s.exec.PowerStates.InUse(n.ID)
		}
		return m
	}
	for i := range actions {
		a := &actions[i]
		if a.From != n.ID {
			continue
		}
		m.Moving = append(m.Moving, a.VM)
		if at := a.Began.Add(a.Expected); at.After(m.End) {
			m.End = at
		}
	}
	if at := s.departures[n.ID]; at.After(m.End) {
		m.End = at
	}
	if m.Stays != "" || !m.End.After(now) {
		m.End = time.Time{} // some VM has no plan, or the plan is late
	}
	return m
}
