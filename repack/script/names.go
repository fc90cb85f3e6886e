package script

import (
	"fmt"
	"time"

	"vjob/internal/suggest"
	"vjob/repack"
	"vjob/repack/rule"
)

// Names is what a script can speak of. The numbers of VMs and nodes are those of
// the instance for which its rules are made.
type Names interface {
	// VM is the number of a VM. One that exists and is not in the instance has a number
	// beyond it, see [Program.Rules].
	VM(name string) (number int, ok bool)
	Node(name string) (number int, ok bool)
	// VMs are the names of all VMs, each once: $ALL_VMS.
	VMs() []string
	// Nodes are the names of all nodes, each once: $ALL_NODES.
	Nodes() []string
	// Members are the VMs of the vjob of this script: $VMS. Nil in a script without a vjob,
	// which has no such variable.
	Members() []string
	// Label is the value of a label of a node; "" if the node has none of that name.
	Label(node int, key string) string
	// Resources are the names of the dimensions.
	Resources() []string
	// Amount is what a text says of a resource, in the unit of the instance. The error
	// says what would be right: "want processors such as 2, 0.5 or 500m".
	Amount(resource, text string) (int64, error)
	// Tick is how long one tick of the instance lasts.
	Tick() time.Duration
	// Sparse is true where VMs come and go: a rule about a set that has none just now is
	// left out. Else such a set is an error.
	Sparse() bool
	// Steps is the most work that a script may be, [MaxSteps] or less.
	Steps() int
}

// Table is Names out of lists. Its nodes have no labels but those that are given
// with [Table.Mark], and amounts are whole numbers.
type Table struct {
	vms, nodes         map[string]int
	vmNames, nodeNames []string
	members            []string
	resources          []string
	tick               time.Duration
	labels             map[int]map[string]string
}

var _ Names = (*Table)(nil)

// NewTable has VMs and nodes numbered in the order of their names, from 0 on.
func NewTable(vms, nodes, resources []string, tick time.Duration) *Table {
	t := &Table{
		vms: make(map[string]int, len(vms)), nodes: make(map[string]int, len(nodes)),
		vmNames: vms, nodeNames: nodes, resources: resources, tick: tick,
	}
	for i, n := range vms {
		t.vms[n] = i
	}
	for i, n := range nodes {
		t.nodes[n] = i
	}
	return t
}

// OfInstance has the names that an instance gives. What it gives no name is called
// by its number: VM3, N7.
func OfInstance(in *repack.Instance, tick time.Duration) *Table {
	vms, nodes := make([]string, len(in.VMs)), make([]string, len(in.Nodes))
	for i := range in.VMs {
		if vms[i] = in.VMs[i].Name; vms[i] == "" {
			vms[i] = fmt.Sprintf("VM%d", i)
		}
	}
	for i := range in.Nodes {
		if nodes[i] = in.Nodes[i].Name; nodes[i] == "" {
			nodes[i] = fmt.Sprintf("N%d", i)
		}
	}
	return NewTable(vms, nodes, in.Dims, tick)
}

// OfVjob has the members of one vjob only, called by their rank: VM0, VM1. The numbers are
// theirs in the instance. A submitted vjob knows neither nodes nor other vjobs.
func OfVjob(members []int, resources []string, tick time.Duration) *Table {
	names := make([]string, len(members))
	t := &Table{vms: make(map[string]int, len(members)), vmNames: names, members: names, resources: resources, tick: tick}
	for rank, vm := range members {
		names[rank] = fmt.Sprintf("VM%d", rank)
		t.vms[names[rank]] = vm
	}
	return t
}

// VM is the number of a VM.
func (t *Table) VM(name string) (int, bool) { i, ok := t.vms[name]; return i, ok }

// Node is the number of a node.
func (t *Table) Node(name string) (int, bool) { i, ok := t.nodes[name]; return i, ok }

// VMs are the names of the VMs.
func (t *Table) VMs() []string { return t.vmNames }

// Nodes are the names of the nodes.
func (t *Table) Nodes() []string { return t.nodeNames }

// Members are the VMs of the vjob.
func (t *Table) Members() []string { return t.members }

// Mark gives a node labels.
func (t *Table) Mark(node int, labels map[string]string) {
	if t.labels == nil {
		t.labels = map[int]map[string]string{}
	}
	t.labels[node] = labels
}

// Label is the value of a label of a node.
func (t *Table) Label(node int, key string) string { return t.labels[node][key] }

// Amount reads a whole number.
func (t *Table) Amount(_, text string) (int64, error) {
	if !number(text) {
		return 0, fmt.Errorf("want %s", rule.Number)
	}
	return largest(text)
}

// Resources are the names of the dimensions.
func (t *Table) Resources() []string { return t.resources }

// Tick is how long a tick lasts.
func (t *Table) Tick() time.Duration { return t.tick }

// Sparse is false.
func (t *Table) Sparse() bool { return false }

// Steps is MaxSteps.
func (t *Table) Steps() int { return MaxSteps }

// hint is "; did you mean …?" or nothing.
func hint(text string, lists ...[]string) string {
	if n := suggest.Nearest(text, lists...); n != "" {
		return fmt.Sprintf("; did you mean %s?", Name(n))
	}
	return ""
}
