package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/nodepower"
)

// Nodes declares the states of nodes, and takes those offline that have become empty for their maintenance.
type Nodes struct {
	exec       *execute.Executor
	controller *nodepower.Controller
	out        *journal.Step

	// departures is when the plans so far have taken the last VM off a node.
	departures map[cluster.NodeID]time.Time
	entering   map[cluster.NodeID]bool // are emptied for their maintenance
}

// newNodes returns the nodes that the executor knows.
func newNodes(exec *execute.Executor, controller *nodepower.Controller, out *journal.Step) *Nodes {
	s := &Nodes{exec: exec, controller: controller, out: out, departures: map[cluster.NodeID]time.Time{}, entering: map[cluster.NodeID]bool{}}
	for _, id := range exec.Names() {
		n, _ := exec.Node(id)
		s.noteMaintenance(&n.Node)
	}
	return s
}

// noteMaintenance records whether a node is being emptied for its maintenance.
func (s *Nodes) noteMaintenance(n *cluster.Node) {
	if n.Maintenance != nil && n.State == cluster.Draining {
		s.entering[n.ID] = true
	} else {
		delete(s.entering, n.ID)
	}
}

// Set sets the state of some nodes, of all or none, so that VMs that leave one do not move to
// the next. It fails with ErrConflict if a node that holds VMs, or resources of a container, should be
// offline.
func (s *Nodes) Set(now time.Time, ids []cluster.NodeID, state cluster.NodeState, by string) error {
	for _, id := range ids {
		n, ok := s.exec.Node(id)
		switch {
		case !ok:
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		case state == cluster.Offline && len(n.VMs) > 0:
			return fmt.Errorf("node %s holds %s, such as %s: drain it first: %w",
				id, cluster.Count(len(n.VMs), "VM"), n.VMs[0], cluster.ErrConflict)
		}
		if job, reserved := s.exec.PowerStates.ContainerOn(id); reserved && state == cluster.Offline {
			return fmt.Errorf("node %s holds resources of container %s: drain it until the container ends, or delete that: %w", id, job, cluster.ErrConflict)
		}
	}
	for _, id := range ids {
		s.set(now, id, state, by)
	}
	return nil
}

// set sets the state of a known node.
func (s *Nodes) set(now time.Time, id cluster.NodeID, state cluster.NodeState, by string) {
	n, _ := s.exec.Node(id)
	if n.State == state && n.Maintenance == nil {
		return
	}
	n.State, n.Maintenance = state, nil
	s.declare(now, n.Node, fmt.Sprintf("node %s is %s: by %s", id, state, by))
}

// declare records the state of a known node, with an event.
func (s *Nodes) declare(now time.Time, n cluster.Node, text string) {
	s.exec.SetNode(now, n)
	s.noteMaintenance(&n)
	s.controller.NodeStateSet(now, n.ID, n.State)
	s.out.Nodes = append(s.out.Nodes, n)
	s.out.Events = append(s.out.Events, journal.Event{At: now, Kind: journal.EventNode, Node: n.ID, Text: text})
}
