package cluster

import (
	"slices"
	"time"
)

// NodeID is the name of a node, unique in the cluster.
type NodeID string

// Node is one physical host that runs VMs.
type Node struct {
	ID       NodeID
	Capacity Resources
	State    NodeState
	Labels   map[string]string // rack, switch, …: free for rules and requests
	// Maintenance is set while the node is in maintenance, or being emptied for it.
	Maintenance *Maintenance
}

// Maintenance says which user has taken a node out of use, and why. It does not change. A node enters maintenance as Draining,
// and is Offline once it is empty.
type Maintenance struct {
	By     string    `json:"by"` // the user
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	VMs    int       `json:"vms"` // that were on the node then
}

// Hosts reports whether VMs may be placed on the node.
func (n Node) Hosts() bool { return n.State == Online }

// AllOnline returns nodes as if all were online.
func AllOnline(nodes []Node) []Node {
	online := slices.Clone(nodes)
	for i := range online {
		online[i].State = Online
	}
	return online
}

// NodeState is what the scheduler may do with a node. It does not tell whether the node answers,
// which is observed.
type NodeState uint8

// The states of a node.
const (
	Online   NodeState = iota // takes VMs
	Draining                  // keeps its VMs until they can be moved away; takes no others
	Offline                   // empty and off, or about to be
	Down                      // declared dead by a fence device or an operator: its VMs are lost
)

var nodeStates = names[NodeState]{Online: "online", Draining: "draining", Offline: "offline", Down: "down"}

// String is the lower-case name of the state.
func (s NodeState) String() string { return nodeStates.text(s) }

// ParseNodeState reads the name of a state; the error lists the valid names.
func ParseNodeState(s string) (NodeState, error) { return nodeStates.parse("state", s) }

// MarshalText writes the name of the state.
func (s NodeState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a state.
func (s *NodeState) UnmarshalText(b []byte) (err error) {
	*s, err = ParseNodeState(string(b))
	return err
}
