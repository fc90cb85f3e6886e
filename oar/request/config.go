package request

import (
	"slices"
	"strings"
)

// Config says which names a level may have, and what a request without levels asks for.
type Config struct {
	// NodesAlias is the level that the alias nodes stands for: OARSUB_NODES_RESOURCES.
	NodesAlias string
	// Default are the levels where none are given: OARSUB_DEFAULT_RESOURCES.
	Default []Level
	// Nodes, CPUs and Cores are the names of a node and of its parts. All other names are
	// labels of nodes: cluster, switch, rack.
	Nodes, CPUs, Cores []string
	// CoresPerCPU is the number of processors of a VM that a level of CPUs stands for.
	CoresPerCPU int
}

// DefaultConfig has the values of an OAR without settings of its own, and the names of OAR's
// documentation. A cpu is one processor.
func DefaultConfig() Config {
	return Config{
		NodesAlias:  "network_address",
		Default:     []Level{{Name: "resource_id", Count: "1"}},
		Nodes:       []string{"network_address", "nodes", "node", "host"},
		CPUs:        []string{"cpu", "socket"},
		Cores:       []string{"core", "resource_id"},
		CoresPerCPU: 1,
	}
}

// Unit is the level that a VM stands for.
type Unit uint8

// The units, from the inner to the outer. Label is a group of nodes, never a VM.
const (
	Core Unit = iota
	CPU
	Node
	Label
)

// unit returns the meaning of the name of a level.
func (s Config) unit(name string) Unit {
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
