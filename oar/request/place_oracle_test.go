package request_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar/property"
	"vjob/oar/request"
	"vjob/repack"
	"vjob/repack/script"
)

// names are the rules that a vjob may use.
type names struct {
	*script.Table
	members []string
}

func (n names) Members() []string { return n.members }

// instance builds a planning instance: VMs with the sizes and rules of a placement, running on the
// nodes that host says.
func instance(t *testing.T, m *request.Placement, world request.Inventory, host []int) *repack.Instance {
	t.Helper()
	in := &repack.Instance{Dims: []string{"cpu", "mem"}}
	var members, nodes []string
	for _, n := range world.Nodes {
		in.Nodes = append(in.Nodes, repack.Node{Name: string(n.ID), Capacity: []int64{int64(n.Capacity.CPU), int64(n.Capacity.Memory)}, Want: repack.AnyState})
		nodes = append(nodes, string(n.ID))
	}
	for i, size := range m.VMs {
		need := []int64{int64(size.CPU), int64(size.Memory)}
		name := fmt.Sprintf("VM%d", i)
		members = append(members, name)
		in.VMs = append(in.VMs, repack.VM{Name: name, State: repack.Running, Want: repack.Running, Host: host[i], Now: need, Next: need})
	}
	table := script.NewTable(members, nodes, in.Dims, time.Second)
	for i, n := range world.Nodes {
		table.Mark(i, n.Labels)
	}
	p, err := script.Compile("rules", m.Rules, names{table, members})
	if err != nil {
		t.Fatalf("%v\n%s", err, m.Rules)
	}
	if len(p.Warnings) > 0 {
		t.Fatalf("%v\n%s", p.Warnings, m.Rules)
	}
	if in.Rules, err = p.Rules(in); err != nil {
		t.Fatalf("%v\n%s", err, m.Rules)
	}
	return in
}

// allowed reports whether rules and nodes permit the placement of the VMs.
func allowed(t *testing.T, m *request.Placement, world request.Inventory, host []int) bool {
	t.Helper()
	report, err := repack.Check(instance(t, m, world, host), &repack.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	return report.Valid()
}

// meant reports the same by the definition of levels: VMs are numbered group by group, within a group
// by the outer level first. The parts of a level are in different groups of nodes, each within one.
func meant(a request.Alternative, filters []property.Filter, m *request.Placement, world request.Inventory, host []int) bool {
	load := make([]cluster.Resources, len(world.Nodes))
	for vm, n := range host {
		load[n] = load[n].Plus(m.VMs[vm])
		if !load[n].Fits(world.Nodes[n].Capacity) {
			return false
		}
	}
	first := 0
	for _, g := range a.Groups {
		n := 1
		var levels []request.Level
		for _, l := range g.Levels {
			if l.Name == "core" && len(levels) > 0 && levels[len(levels)-1].Name == "nodes" {
				continue // the size
			}
			levels = append(levels, l)
			k, _ := l.Count.Number()
			n *= k
		}
		for _, at := range host[first : first+n] {
			of := func(name string) (string, bool) { v, ok := world.Nodes[at].Labels[name]; return v, ok }
			for _, f := range append(filters, g.Property) {
				if !f.Matches(of) {
					return false
				}
			}
		}
		if !apart(levels, world, host[first:first+n], "") {
			return false
		}
		first += n
	}
	return true
}

// apart splits the VMs of a part by its outermost level.
func apart(levels []request.Level, world request.Inventory, host []int, path string) bool {
	if len(levels) == 0 {
		return true
	}
	l := levels[0]
	if l.Name == "core" { // anywhere
		return true
	}
	k, _ := l.Count.Number()
	size := len(host) / k
	seen := map[string]bool{}
	for i := range k {
		part := host[i*size : (i+1)*size]
		where := ""
		for j, n := range part {
			value, ok := world.Nodes[n].Labels[l.Name]
			if l.Name == "nodes" {
				value, ok = string(world.Nodes[n].ID), true
			}
			if !ok || j > 0 && value != where {
				return false
			}
			where = value
		}
		if seen[where] || !apart(levels[1:], world, part, path+"/"+where) {
			return false
		}
		seen[where] = true
	}
	return true
}

// Of all assignments of VMs to the nodes of a small cluster, the rules permit exactly those that the
// request means. If the request is accepted, there is at least one.
func TestRulesSayWhatTheRequestMeans(t *testing.T) {
	const seed, rounds = 7, 400
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	site := request.DefaultConfig()
	lang := request.DefaultConfig()
	lang.NodesAlias = "nodes"
	placed, refused := 0, 0
	for range rounds {
		world, text, filter := smallWorld(rng), smallRequest(rng), pick(rng, "", "", "zone = 'z1'", "zone <> 'z0' AND cluster IS NOT NULL")
		r, err := request.Parse([]string{text}, lang)
		if err != nil {
			t.Fatal(err)
		}
		f, err := property.Parse("-p", filter)
		if err != nil {
			t.Fatal(err)
		}
		list, err := request.Place(request.Spec{Request: r, Filters: []property.Filter{f}, Memory: 1}, world, site)
		if err != nil {
			refused++
			continue
		}
		m := &list[0]
		if len(m.VMs) > 5 {
			continue
		}
		placed++
		ways := 0
		allNodes(len(m.VMs), len(world.Nodes), func(host []int) {
			want := meant(r.Alternatives[0], []property.Filter{f}, m, world, host)
			if got := allowed(t, m, world, host); got != want {
				t.Fatalf("seed %d: %s -p %q on %v: %v is allowed %v, meant %v\n%s", seed, text, filter, world.Nodes, host, got, want, m.Rules)
			}
			if want {
				ways++
			}
		})
		if ways == 0 && len(r.Alternatives[0].Groups) == 1 { // only the planner checks whether two groups fit together
			t.Fatalf("seed %d: %s -p %q on %v: there is no way\n%s", seed, text, filter, world.Nodes, m.Rules)
		}
	}
	t.Logf("%d requests placed, %d refused", placed, refused)
	if placed < rounds/4 || refused < rounds/20 {
		t.Errorf("%d requests placed and %d refused are too few to prove anything", placed, refused)
	}
}

func pick(rng *rand.Rand, list ...string) string { return list[rng.IntN(len(list))] }

func smallWorld(rng *rand.Rand) (w request.Inventory) {
	for i := range 2 + rng.IntN(4) {
		labels := map[string]string{}
		for _, key := range []string{"cluster", "switch", "zone"} {
			if rng.IntN(10) > 0 {
				labels[key] = fmt.Sprintf("%c%d", key[0], rng.IntN(2))
			}
		}
		w.Nodes = append(w.Nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Labels: labels,
			Capacity: cluster.Resources{CPU: cluster.CPU * cluster.MilliCPU(1+rng.IntN(3)), Memory: 10},
		})
	}
	return w
}

// smallRequest returns a request of one or two groups with counts of one or two.
func smallRequest(rng *rand.Rand) string {
	group := func() string {
		var b strings.Builder
		b.WriteString(pick(rng, "", "", "{zone = 'z0'}", "{zone IN ('z0', 'z1')}", "{NOT switch = 's1'}"))
		for _, l := range []string{"/cluster=%d", "/switch=%d"} {
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&b, l, 1+rng.IntN(2))
			}
		}
		fmt.Fprintf(&b, pick(rng, "/nodes=%d/core=1", "/nodes=%d/core=2", "/core=%d", "/nodes=%d/core=1"), 1+rng.IntN(2))
		return b.String()
	}
	if rng.IntN(4) == 0 {
		return group() + "+" + group()
	}
	return group()
}

// allNodes calls back with each assignment of VMs to nodes.
func allNodes(vms, nodes int, try func(host []int)) {
	host := make([]int, vms)
	for {
		try(host)
		i := 0
		for ; i < vms; i++ {
			host[i]++
			if host[i] < nodes {
				break
			}
			host[i] = 0
		}
		if i == vms {
			return
		}
	}
}
