package placement

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/repack/script"
	"vjob/repack/script/rulelist"
)

// Tick is how long one tick lasts in the instances of a running cluster.
const Tick = time.Millisecond

// Dims are the dimensions of the instances, called by the units in which they count.
var Dims = []string{"mCPU", "MiB"}

// The resources as rules call them.
const (
	cpu    = "cpu"
	memory = "memory"
)

// Index is the nodes and VMs of an instance, by their numbers.
type Index struct {
	nodes  []cluster.Node
	node   map[string]int
	vms    []cluster.VMID
	number map[cluster.VMID]int
	of     map[cluster.VJobID][]cluster.VMID
	read   map[string]reading // texts that were read: those of many vjobs are alike
}

// reading is a parsed text with its problems, shared by all vjobs that state it.
type reading struct {
	file     *script.File
	problems []script.Diagnostic
}

// file reads a text.
func (s *Index) file(text string) (*script.File, []script.Diagnostic) {
	r, known := s.read[text]
	if !known {
		r.file, r.problems = rulelist.Read(field, text)
		s.read[text] = r
	}
	return r.file, r.problems
}

// NewIndex numbers nodes and VMs in the order given.
func NewIndex(nodes []cluster.Node, vms []cluster.VMID) *Index {
	s := &Index{
		nodes: nodes, node: make(map[string]int, len(nodes)),
		vms: vms, number: make(map[cluster.VMID]int, len(vms)), of: map[cluster.VJobID][]cluster.VMID{},
		read: map[string]reading{},
	}
	for i, n := range nodes {
		s.node[string(n.ID)] = i
	}
	for i, vm := range vms {
		s.number[vm] = i
		s.of[vm.VJob] = append(s.of[vm.VJob], vm)
	}
	return s
}

// anyNumber is the number of members of a vjob of unknown size.
const anyNumber = -1

// view is an index as one text sees it.
type view struct {
	index   *Index
	own     bool // the text is that of a vjob
	vjob    cluster.VJobID
	members int
	exists  func(cluster.VMID) bool // nil: whatever looks like a VM does
	absent  map[cluster.VMID]int
}

var _ script.Names = (*view)(nil)

// VM is the number of a VM: VM3 is a member of the vjob that owns the text, 12.3 one
// of the cluster.
func (v *view) VM(name string) (int, bool) {
	id, ok := v.id(name)
	if !ok {
		return 0, false
	}
	if i, ok := v.index.number[id]; ok {
		return i, true
	}
	if v.absent == nil {
		v.absent = map[cluster.VMID]int{}
	}
	i, known := v.absent[id]
	if !known {
		i = len(v.index.vms) + len(v.absent)
		v.absent[id] = i
	}
	return i, true
}

func (v *view) id(name string) (id cluster.VMID, ok bool) {
	if !v.own {
		id, err := cluster.ParseVMID(name)
		return id, err == nil && (v.exists == nil || v.exists(id))
	}
	digits, ok := strings.CutPrefix(name, "VM")
	rank, err := strconv.Atoi(digits)
	ok = ok && err == nil && strconv.Itoa(rank) == digits && (v.members == anyNumber || rank < v.members)
	return cluster.VMID{VJob: v.vjob, Rank: rank}, ok
}

// Node is the number of a node.
func (v *view) Node(name string) (int, bool) { i, ok := v.index.node[name]; return i, ok }

// VMs are all VMs, or the members of the vjob.
func (v *view) VMs() []string {
	if v.own {
		return v.Members()
	}
	names := make([]string, len(v.index.vms))
	for i, vm := range v.index.vms {
		names[i] = vm.String()
	}
	return names
}

// Nodes are the names of the nodes.
func (v *view) Nodes() []string {
	names := make([]string, len(v.index.nodes))
	for i, n := range v.index.nodes {
		names[i] = string(n.ID)
	}
	return names
}

// Members are the members of the vjob that are there.
func (v *view) Members() []string {
	if !v.own {
		return nil
	}
	names := []string{}
	for rank := range v.members {
		names = append(names, "VM"+strconv.Itoa(rank))
	}
	if v.members == anyNumber {
		for _, vm := range v.index.of[v.vjob] {
			names = append(names, "VM"+strconv.Itoa(vm.Rank))
		}
	}
	return names
}

// Label is the value of a label of a node.
func (v *view) Label(node int, key string) string { return v.index.nodes[node].Labels[key] }

// Resources are the names of the resources.
func (v *view) Resources() []string { return []string{cpu, memory} }

// Amount reads processors or memory with its unit.
func (v *view) Amount(resource, text string) (int64, error) {
	if resource == cpu {
		c, err := cluster.ParseCPU(text)
		if err != nil {
			return 0, errors.New("want processors such as 2, 0.5 or 500m")
		}
		return int64(c), nil
	}
	m, err := cluster.ParseMiB(text)
	if _, bare := strconv.Atoi(text); err != nil || bare == nil {
		return 0, errors.New("want memory with its unit, such as 512MiB or 64GiB")
	}
	return int64(m), nil
}

// Tick is how long a tick lasts.
func (v *view) Tick() time.Duration { return Tick }

// Sparse is true but for a vjob that is being submitted: all its members are there.
func (v *view) Sparse() bool { return v.members == anyNumber || !v.own }

// The rules of a vjob are compiled at every decision. ownSteps bounds that work, and stepsPerMember adds to
// the bound for each member.
const (
	ownSteps       = 100_000
	stepsPerMember = 50
)

// Steps is the most work that the text may be.
func (v *view) Steps() int {
	if !v.own {
		return script.MaxSteps
	}
	return min(script.MaxSteps, ownSteps+stepsPerMember*max(v.members, len(v.index.of[v.vjob])))
}
