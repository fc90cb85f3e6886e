package pools

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/internal/suggest"
	"vjob/queue/pool"
	"vjob/scheduler/balance"
)

// nodeEntry is a node of a file.
type nodeEntry struct {
	Name    string            `json:"name"`
	CPU     string            `json:"cpu"`
	Memory  string            `json:"memory"`
	Network string            `json:"network"`
	Labels  map[string]string `json:"labels"`
	Closed  string            `json:"closed"`
	Leaving bool              `json:"leaving"`
}

// placed is where a VM is and what is known of its moves.
type placed struct {
	Node      string      `json:"node"`
	Network   flow        `json:"network"`
	Group     string      `json:"group"`
	Fixed     string      `json:"fixed"`
	To        string      `json:"to"`
	Stable    string      `json:"stable"`
	Migration string      `json:"migration"`
	Dirty     string      `json:"dirty"`
	Left      []leftEntry `json:"left"`
}

// flow is a demand of network bandwidth.
type flow struct {
	Demand string `json:"demand"`
	Min    string `json:"min"`
	Max    string `json:"max"`
}

// leftEntry is a node that a VM left.
type leftEntry struct {
	Node string `json:"node"`
	Ago  string `json:"ago"`
}

// scene is the contents of a file for balancing.
type scene struct {
	*problem
	settings balance.Settings
	cluster  *balance.Cluster
	vms      []pool.Entitlement // of each VM
}

// readScene reads a file for balancing.
func readScene(name string, data []byte) (*scene, error) {
	var f poolFile
	doc, err := document.Decode(name, data, &f)
	if err != nil {
		return nil, err
	}
	s, err := f.scene()
	if err != nil {
		return nil, doc.Locate(err)
	}
	return s, nil
}

func (f *poolFile) scene() (*scene, error) {
	if len(f.Nodes) == 0 {
		return nil, cluster.Fault("nodes", "missing, want the nodes that are balanced: - {name: n1, cpu: 16, memory: 64GiB}")
	}
	p, err := f.problem()
	if err != nil {
		return nil, err
	}
	s := &scene{problem: p, cluster: &balance.Cluster{}}
	if s.settings, err = f.Settings.read(); err != nil {
		return nil, cluster.WithPath("settings", err)
	}
	if s.vms, err = p.entitlements(); err != nil {
		return nil, err
	}
	nodes, err := s.addNodes(f.Nodes)
	if err != nil {
		return nil, err
	}
	known, groups := map[string]int{}, map[string]int{}
	for i := range f.VMs {
		e, path := &f.VMs[i], fmt.Sprintf("vms[%d]", i)
		if first, twice := known[e.Name]; twice {
			return nil, cluster.BadField(path+".name", e.Name, fmt.Sprintf("a name that no other VM has, such as vms[%d]", first))
		}
		known[e.Name] = i
		v, err := e.vm(&s.vms[i], nodes)
		if err != nil {
			return nil, cluster.WithPath(path, err)
		}
		if e.Group != "" {
			if groups[e.Group] == 0 {
				groups[e.Group] = len(groups) + 1
			}
			v.Group = groups[e.Group]
		}
		if e.To != "" {
			to, err := find(nodes, "to", e.To)
			if err == nil && to == v.Node {
				err = cluster.BadField("to", e.To, "another node than that on which the VM runs")
			}
			if err != nil {
				return nil, cluster.WithPath(path, err)
			}
			s.cluster.Flights = append(s.cluster.Flights, balance.Flight{VM: i, To: to})
		}
		s.cluster.VMs = append(s.cluster.VMs, v)
	}
	return s, s.addRules(f, len(groups))
}

// entitlements divides the cluster among its VMs for balancing, in the order of the file. None gets more than it
// demands, also where more could be given: where all demands can be met, they are the entitlements (§3.1.1 of the DRS
// paper).
func (p *problem) entitlements() ([]pool.Entitlement, error) {
	demand := func(vm int) cluster.Resources { return p.demand[vm] }
	divided := p.hierarchy.Divide(demand)
	members := slices.Clone(p.hierarchy.Members())
	var pools []pool.Pool
	for i := range members {
		m := &members[i]
		m.CPU.Limit, m.Memory.Limit = min(m.CPU.Limit, int64(divided[i].Demand.CPU)), min(m.Memory.Limit, int64(divided[i].Demand.Memory))
		if !m.VM && i > 0 {
			pools = append(pools, pool.Pool{Name: m.Name, Parent: name(members, m.Parent), Settings: m.Settings})
		}
	}
	root := &members[0]
	capped, err := pool.NewHierarchy(cluster.Resources{CPU: cluster.MilliCPU(root.CPU.Limit), Memory: cluster.MiB(root.Memory.Limit)}, pools)
	if err != nil {
		return nil, err
	}
	demands := map[int]cluster.Resources{}
	var order []int
	for i := range members {
		if !members[i].VM {
			continue
		}
		at, err := capped.Add(members[i].Name, name(members, members[i].Parent), members[i].Settings)
		if err != nil {
			return nil, err
		}
		demands[at] = p.demand[i]
		order = append(order, at)
	}
	again := capped.Divide(func(vm int) cluster.Resources { return demands[vm] })
	list := make([]pool.Entitlement, len(order))
	for i, at := range order {
		list[i] = again[at]
	}
	return list, nil
}

// name is the name of a pool, "" for the cluster.
func name(members []pool.Member, i int) string {
	if i == 0 {
		return ""
	}
	return members[i].Name
}

func (s *scene) addNodes(list []nodeEntry) (map[string]int, error) {
	nodes := make(map[string]int, len(list))
	for i := range list {
		e, path := &list[i], fmt.Sprintf("nodes[%d]", i)
		if !cluster.IsName(e.Name) {
			return nil, cluster.BadField(path+".name", e.Name, "a name")
		}
		if first, twice := nodes[e.Name]; twice {
			return nil, cluster.BadField(path+".name", e.Name, fmt.Sprintf("a name that no other node has, such as nodes[%d]", first))
		}
		nodes[e.Name] = i
		of := amounts{e.CPU, e.Memory}
		has, err := of.read(path, true)
		if err != nil {
			return nil, err
		}
		n := balance.Node{Name: e.Name, Closed: e.Closed, Leaving: e.Leaving}
		n.Capacity = balance.Amounts{int64(has.CPU), int64(has.Memory), 0}
		for r, field := range []string{"cpu", "memory"} {
			if n.Capacity[r] == 0 {
				return nil, cluster.Fault(path+"."+field, "0, want more: list only nodes that are on")
			}
		}
		if n.Capacity[balance.Network], err = bandwidth(path+".network", e.Network); err != nil {
			return nil, err
		}
		s.cluster.Nodes = append(s.cluster.Nodes, n)
	}
	return nodes, nil
}

// find returns the index of a node.
func find(nodes map[string]int, field, name string) (int, error) {
	if i, known := nodes[name]; known {
		return i, nil
	}
	if name == "" {
		return 0, cluster.Fault(field, "missing, want the name of the node on which the VM runs")
	}
	names := make([]string, 0, len(nodes))
	for n := range nodes {
		names = append(names, n)
	}
	want := "the name of one of the nodes"
	if near := suggest.Nearest(name, names); near != "" {
		want += ", such as " + near
	}
	return 0, cluster.BadField(field, name, want)
}

// vm is a VM with its entitlement.
func (e *vmEntry) vm(got *pool.Entitlement, nodes map[string]int) (v balance.VM, err error) {
	v = balance.VM{Name: e.Name, Fixed: e.Fixed}
	if v.Node, err = find(nodes, "node", e.Node); err != nil {
		return v, err
	}
	v.Entitlement = balance.Amounts{int64(got.Given.CPU), int64(got.Given.Memory), 0}
	if err := e.demands(&v); err != nil {
		return v, err
	}
	v.Entitlement[balance.Network] = v.Demand[balance.Network]
	stated := pool.Statement{CPU: e.CPU.Stated, Memory: e.Memory.Stated}
	set, err := stated.Read()
	if err != nil {
		return v, err
	}
	v.Reserved = balance.Amounts{set.CPU.Reservation, max(set.Memory.Reservation, v.Demand[balance.Memory]), 0}
	for r, limit := range []int64{set.CPU.Limit, set.Memory.Limit} { // what no node can satisfy is no demand
		v.Demand[r], v.Least[r], v.Most[r] = min(v.Demand[r], limit), min(v.Least[r], limit), min(v.Most[r], limit)
	}
	if e.Memory.Size != "" {
		size, err := parseMemory("memory.size", e.Memory.Size)
		if err != nil {
			return v, err
		}
		v.Reserved[balance.Memory] = max(set.Memory.Reservation, size)
	}
	for _, of := range []struct {
		field, text string
		to          *time.Duration
	}{{"stable", e.Stable, &v.Stable}, {"migration", e.Migration, &v.Migration}} {
		if *of.to, err = duration(of.field, of.text); err != nil {
			return v, err
		}
	}
	dirty, err := bandwidth("dirty", e.Dirty)
	if err != nil {
		return v, err
	}
	v.Dirty = dirty >> 20
	for i, l := range e.Left {
		path := fmt.Sprintf("left[%d].", i)
		at, err := find(nodes, path+"node", l.Node)
		if err != nil {
			return v, err
		}
		ago, err := duration(path+"ago", l.Ago)
		if err != nil {
			return v, err
		}
		v.Left = append(v.Left, balance.Visit{Node: at, Ago: ago})
	}
	return v, nil
}

// demands reads the demands, and their extremes in the last hour.
func (e *vmEntry) demands(v *balance.VM) error {
	for r, of := range []struct {
		field             string
		parse             func(field, text string) (int64, error)
		demand, low, high string
	}{
		{"cpu", parseCPU, e.CPU.Demand, e.CPU.Min, e.CPU.Max},
		{"memory", parseMemory, e.Memory.Demand, e.Memory.Min, e.Memory.Max},
		{"network", bandwidth, e.Network.Demand, e.Network.Min, e.Network.Max},
	} {
		for _, part := range []struct {
			field, text string
			to          *int64
		}{{"demand", of.demand, &v.Demand[r]}, {"min", of.low, &v.Least[r]}, {"max", of.high, &v.Most[r]}} {
			if part.text == "" {
				*part.to = v.Demand[r]
				continue
			}
			n, err := of.parse(of.field+"."+part.field, part.text)
			if err != nil {
				return err
			}
			*part.to = n
		}
		if v.Least[r] > v.Demand[r] {
			return cluster.Fault(of.field+".min", "%s is more than the demand, want the least demand of the last hour, the present one included", of.low)
		}
		if v.Most[r] < v.Demand[r] {
			return cluster.Fault(of.field+".max", "%s is less than the demand, want the largest demand of the last hour, the present one included", of.high)
		}
	}
	return nil
}

func parseCPU(field, text string) (int64, error) {
	n, err := cluster.ParseCPU(text)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	return int64(n), nil
}

func parseMemory(field, text string) (int64, error) {
	n, err := cluster.ParseMiB(text)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	return int64(n), nil
}

// bandwidth reads bytes per second; "" is 0.
func bandwidth(field, text string) (int64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, nil
	}
	n, err := cluster.ParseRate(text)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	return int64(n), nil
}

// duration reads a time; "" is 0.
func duration(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := cluster.ParseDuration(text)
	if err != nil {
		return 0, cluster.Renamed(field, err)
	}
	return d, nil
}
