package pools

import (
	"fmt"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/queue/pool"
)

// poolFile is a cluster with its pools and VMs. What only [BalanceCommand] reads is in balance_file.go.
type poolFile struct {
	Cluster  *amounts             `json:"cluster"`
	Nodes    []nodeEntry          `json:"nodes"`
	Pools    []pool.PoolStatement `json:"pools"`
	VMs      []vmEntry            `json:"vms"`
	Rules    document.Passage     `json:"rules"`
	Settings balanceSettings      `json:"settings"`
}

// amounts are an amount of each resource, as text.
type amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

type vmEntry struct {
	Name   string   `json:"name"`
	Pool   string   `json:"pool"` // "" is the cluster
	CPU    demanded `json:"cpu"`
	Memory demanded `json:"memory"`
	placed
}

type demanded struct {
	pool.Stated
	Demand string `json:"demand"`
	Min    string `json:"min"` // of the last hour
	Max    string `json:"max"`
	Size   string `json:"size"` // of memory
}

// problem is the contents of a file: the hierarchy, and the demand of each of its VMs by index.
type problem struct {
	hierarchy *pool.Hierarchy
	demand    map[int]cluster.Resources
}

// read reads a file.
func read(name string, data []byte) (*problem, error) {
	var f poolFile
	doc, err := document.Decode(name, data, &f)
	if err != nil {
		return nil, err
	}
	p, err := f.problem()
	if err != nil {
		return nil, doc.Locate(err)
	}
	return p, nil
}

func (f *poolFile) problem() (*problem, error) {
	capacity, err := f.capacity()
	if err != nil {
		return nil, err
	}
	pools, err := pool.ReadPools(f.Pools)
	if err != nil {
		return nil, err
	}
	p := &problem{demand: map[int]cluster.Resources{}}
	if p.hierarchy, err = pool.NewHierarchy(capacity, pools); err != nil {
		return nil, err
	}
	for i := range f.VMs {
		if err := p.addVM(&f.VMs[i]); err != nil {
			return nil, cluster.WithPath(fmt.Sprintf("vms[%d]", i), err)
		}
	}
	return p, nil
}

// capacity is that of the cluster, or else of its nodes together.
func (f *poolFile) capacity() (sum cluster.Resources, err error) {
	switch {
	case f.Cluster != nil:
		return f.Cluster.read("cluster", true)
	case len(f.Nodes) == 0:
		return sum, cluster.Fault("cluster", "missing, want what is divided: {cpu: 16, memory: 64GiB}, or nodes")
	}
	for i := range f.Nodes {
		of := amounts{f.Nodes[i].CPU, f.Nodes[i].Memory}
		has, err := of.read(fmt.Sprintf("nodes[%d]", i), true)
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(has)
	}
	return sum, nil
}

func (p *problem) addVM(e *vmEntry) error {
	if !cluster.IsName(e.Name) {
		return cluster.BadField("name", e.Name, "a name")
	}
	stated := pool.Statement{CPU: e.CPU.Stated, Memory: e.Memory.Stated}
	s, err := stated.Read()
	if err != nil {
		return err
	}
	texts := amounts{e.CPU.Demand, e.Memory.Demand}
	demand, err := texts.readAs(func(resource string) string { return resource + ".demand" }, false)
	if err != nil {
		return err
	}
	if e.CPU.Size != "" {
		return cluster.Fault("cpu.size", "only memory has a size, remove it")
	}
	i, err := p.hierarchy.Add(e.Name, e.Pool, s)
	if err == nil {
		p.demand[i] = demand
	}
	return err
}

// read reads amounts of the fields path.cpu and path.memory.
func (a *amounts) read(path string, required bool) (cluster.Resources, error) {
	return a.readAs(func(resource string) string { return path + "." + resource }, required)
}

// readAs reads amounts; field returns the field of a resource. An amount that is not required may be missing.
func (a *amounts) readAs(field func(resource string) string, required bool) (r cluster.Resources, err error) {
	if a.CPU != "" || required {
		if r.CPU, err = cluster.ParseCPU(a.CPU); err != nil {
			return r, cluster.Renamed(field("cpu"), err)
		}
	}
	if a.Memory != "" || required {
		if r.Memory, err = cluster.ParseMiB(a.Memory); err != nil {
			return r, cluster.Renamed(field("memory"), err)
		}
	}
	return r, nil
}
