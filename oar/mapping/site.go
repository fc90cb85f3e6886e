package mapping

import (
	"slices"
	"strings"
)

// Site says which names of levels mean a node and its parts. All others are labels of
// nodes: cluster, switch, rack.
type Site struct {
	Nodes []string
	CPUs  []string
	Cores []string
	// CoresPerCPU is how many processors of a VM one level of CPUs is.
	CoresPerCPU int
}

// DefaultSite has the names that OAR's own documentation uses. A cpu is one processor.
func DefaultSite() Site {
	return Site{
		Nodes:       []string{"network_address", "nodes", "node", "host"},
		CPUs:        []string{"cpu", "socket"},
		Cores:       []string{"core", "resource_id"},
		CoresPerCPU: 1,
	}
}

// Unit is what one VM stands for.
type Unit uint8

// The units, from the inner to the outer. Label is a group of nodes, and no VM.
const (
	Core Unit = iota
	CPU
	Node
	Label
)

// unit is the meaning of the name of a level.
func (s Site) unit(name string) Unit {
	is := func(n string) bool { return strings.EqualFold(n, name) }
	switch {
	case slices.ContainsFunc(s.Nodes, is):
		return Node
	case slices.ContainsFunc(s.CPUs, is):
		return CPU
	case slices.ContainsFunc(s.Cores, is):
		return Core
	}
	return Label
}
