package pools

import (
	"fmt"
	"slices"
	"strconv"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/internal/document"
	"vjob/queue/pool"
)

// poolFile is a cluster with its pools and VMs.
type poolFile struct {
	Cluster struct {
		CPU    string `json:"cpu"`
		Memory string `json:"memory"`
	} `json:"cluster"`
	Pools []poolEntry `json:"pools"`
	VMs   []vmEntry   `json:"vms"`
}

type poolEntry struct {
	Name   string   `json:"name"`
	Parent string   `json:"parent"` // "" is the cluster
	CPU    controls `json:"cpu"`
	Memory controls `json:"memory"`
}

type vmEntry struct {
	Name   string   `json:"name"`
	Pool   string   `json:"pool"` // "" is the cluster
	CPU    demanded `json:"cpu"`
	Memory demanded `json:"memory"`
}

type controls struct {
	Reservation string `json:"reservation"`
	Limit       string `json:"limit"`
	Shares      string `json:"shares"`
}

type demanded struct {
	controls
	Demand string `json:"demand"`
}

// resource is one of the two resources, with its notation.
type resource struct {
	name  string
	parse func(text string) (int64, error)
	show  func(n int64) string
}

var (
	cpu    = resource{"cpu", parseCPU, display.CPU}
	memory = resource{"memory", parseMemory, display.MiB}
)

func parseCPU(text string) (int64, error) {
	n, err := cluster.ParseCPU(text)
	return int64(n), err
}

func parseMemory(text string) (int64, error) {
	n, err := cluster.ParseMiB(text)
	return int64(n), err
}

// namedShares are the words for shares. High, normal and low are as 4 to 2 to 1.
var namedShares = map[string]int64{"high": 2000, "normal": 1000, "low": 500, "": 1000}

// row is an entry of the file in the order of the tree: pools before what is in them.
type row struct {
	name  string
	depth int
	vm    bool
	path  string // of its fields in errors
	of    [2]struct {
		controls pool.Controls
		demand   int64
	}
	parent int // index of its pool
}

// read reads a file as rows; the first is the cluster, with its capacity as limit.
func read(name string, data []byte) ([]row, error) {
	var f poolFile
	doc, err := document.Decode(name, data, &f)
	if err != nil {
		return nil, err
	}
	rows, err := f.rows()
	if err != nil {
		return nil, doc.Locate(err)
	}
	return rows, nil
}

func (f *poolFile) rows() ([]row, error) {
	root := row{name: "cluster", parent: -1}
	for i, of := range []struct {
		resource
		text string
	}{{cpu, f.Cluster.CPU}, {memory, f.Cluster.Memory}} {
		capacity, err := of.parse(of.text)
		if err != nil {
			return nil, cluster.Renamed("cluster."+of.name, err)
		}
		root.of[i].controls = pool.Controls{Limit: capacity, Shares: 1}
	}
	tree := newTree(root)
	if err := f.addPools(tree); err != nil {
		return nil, err
	}
	for i := range f.VMs {
		v, path := &f.VMs[i], fmt.Sprintf("vms[%d]", i)
		r, err := entry(path, v.Name, &v.CPU.controls, &v.Memory.controls)
		if err != nil {
			return nil, err
		}
		r.vm = true
		for k, of := range []struct {
			resource
			text string
		}{{cpu, v.CPU.Demand}, {memory, v.Memory.Demand}} {
			if of.text == "" {
				continue
			}
			if r.of[k].demand, err = of.parse(of.text); err != nil {
				return nil, cluster.Renamed(path+"."+of.name+".demand", err)
			}
		}
		if err := tree.add(r, path+".pool", v.Pool); err != nil {
			return nil, err
		}
	}
	err := tree.reserve()
	return tree.sorted(), err
}

// addPools adds pools after their parents, in whatever order the file has them.
func (f *poolFile) addPools(tree *tree) error {
	known := map[string]int{}
	for i := range f.Pools {
		if first, twice := known[f.Pools[i].Name]; twice {
			return cluster.BadField(fmt.Sprintf("pools[%d].name", i), f.Pools[i].Name, fmt.Sprintf("a name that no other pool has, such as pools[%d]", first))
		}
		known[f.Pools[i].Name] = i
	}
	var add func(i, depth int) error
	done := make([]bool, len(f.Pools))
	add = func(i, depth int) error {
		p, path := &f.Pools[i], fmt.Sprintf("pools[%d]", i)
		if done[i] {
			return nil
		}
		if depth > pool.MaxDepth {
			return cluster.Fault(path+".parent", "%q is in itself, or in more than %d pools", p.Name, pool.MaxDepth)
		}
		if k, found := known[p.Parent]; found && p.Parent != "" {
			if err := add(k, depth+1); err != nil {
				return err
			}
		}
		r, err := entry(path, p.Name, &p.CPU, &p.Memory)
		if err != nil {
			return err
		}
		done[i] = true
		return tree.add(r, path+".parent", p.Parent)
	}
	for i := range f.Pools {
		if err := add(i, 0); err != nil {
			return err
		}
	}
	return nil
}

// entry reads what pools and VMs have in common.
func entry(path, name string, c, m *controls) (r row, err error) {
	if !cluster.IsName(name) {
		return r, cluster.BadField(path+".name", name, "a name")
	}
	r = row{name: name, path: path}
	for i, of := range []struct {
		resource
		*controls
	}{{cpu, c}, {memory, m}} {
		field := path + "." + of.name
		if r.of[i].controls, err = of.read(of.resource, field); err != nil {
			return r, err
		}
		if own := r.of[i].controls; own.Reservation > own.Limit {
			return r, cluster.Fault(field+".reservation", "%s is reserved, the limit is %s", of.show(own.Reservation), of.show(own.Limit))
		}
		if err := r.of[i].controls.Check(); err != nil {
			return r, cluster.WithPath(field, err)
		}
	}
	return r, nil
}

// read reads controls; the field is that of the resource.
func (c *controls) read(of resource, field string) (p pool.Controls, err error) {
	p = pool.Controls{Limit: pool.Unlimited}
	if c.Reservation != "" {
		if p.Reservation, err = of.parse(c.Reservation); err != nil {
			return p, cluster.Renamed(field+".reservation", err)
		}
	}
	if c.Limit != "" {
		if p.Limit, err = of.parse(c.Limit); err != nil {
			return p, cluster.Renamed(field+".limit", err)
		}
	}
	shares, named := namedShares[c.Shares]
	if !named {
		if shares, err = strconv.ParseInt(c.Shares, 10, 64); err != nil {
			return p, cluster.BadField(field+".shares", c.Shares, "high, normal, low or a whole number, such as 1000")
		}
	}
	p.Shares = shares
	return p, nil
}

// tree collects rows.
type tree struct {
	rows     []row
	pools    map[string]int
	children [][]int
}

func newTree(root row) *tree {
	return &tree{rows: []row{root}, pools: map[string]int{"": 0}, children: [][]int{nil}}
}

// add adds a row below the named pool; the field is that of the name.
func (t *tree) add(r row, field, parent string) error {
	at, known := t.pools[parent]
	if !known {
		return cluster.BadField(field, parent, "the name of a pool, or nothing for the cluster")
	}
	r.parent, r.depth = at, t.rows[at].depth+1
	if r.depth > pool.MaxDepth {
		return cluster.Fault(field, "%q is in more than %d pools", r.name, pool.MaxDepth)
	}
	if !r.vm {
		t.pools[r.name] = len(t.rows)
	}
	t.children[at] = append(t.children[at], len(t.rows))
	t.rows, t.children = append(t.rows, r), append(t.children, nil)
	return nil
}

// reserve raises the reservations of pools to what is reserved in them. It refuses more than the limit of a
// pool, or than the cluster has.
func (t *tree) reserve() error {
	for i := len(t.rows) - 1; i >= 0; i-- {
		for k, of := range []resource{cpu, memory} {
			own, sum := &t.rows[i].of[k].controls, int64(0)
			for _, c := range t.children[i] {
				sum += t.rows[c].of[k].controls.Reservation
			}
			switch {
			case sum <= own.Limit:
			case i == 0:
				return cluster.Fault("cluster."+of.name, "%s is reserved in pools and VMs, the cluster has %s", of.show(sum), of.show(own.Limit))
			default:
				return cluster.Fault(t.rows[i].path+"."+of.name+".limit", "%s is reserved in %s, its limit is %s", of.show(sum), t.rows[i].name, of.show(own.Limit))
			}
			own.Reservation = max(own.Reservation, sum)
		}
	}
	return nil
}

// sorted returns the rows as a tree is printed, each pool before what is in it.
func (t *tree) sorted() []row {
	list := make([]row, 0, len(t.rows))
	var visit func(i, parent int)
	visit = func(i, parent int) {
		r := t.rows[i]
		r.parent = parent
		at := len(list)
		list = append(list, r)
		for _, vms := range []bool{true, false} {
			for _, c := range t.children[i] {
				if t.rows[c].vm == vms {
					visit(c, at)
				}
			}
		}
	}
	visit(0, -1)
	return slices.Clip(list)
}
