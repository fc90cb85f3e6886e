package cluster

import "fmt"

// Move takes a VM to another node; From is "" for a VM that starts.
type Move struct {
	VM   VMID   `json:"vm"`
	From NodeID `json:"from,omitempty"`
	To   NodeID `json:"to"`
}

// String is "12.1 from n2 to n3".
func (m Move) String() string {
	if m.From == "" {
		return fmt.Sprintf("%s to %s", m.VM, m.To)
	}
	return fmt.Sprintf("%s from %s to %s", m.VM, m.From, m.To)
}

// NodeNames returns ids as text.
func NodeNames(nodes []NodeID) []string {
	list := make([]string, len(nodes))
	for i, id := range nodes {
		list[i] = string(id)
	}
	return list
}
