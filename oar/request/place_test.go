package request_test

import (
	"fmt"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
	"vjob/tests/golden"
)

// site16 is the cluster of the cases that were measured with OAR: four nodes on each switch, 8 nodes of
// 4 processors and 32 GiB in the first cluster, 8 of 8 and 64 GiB in the second. One node is offline,
// one busy, one down.
func site16() request.Inventory {
	w := request.Inventory{Free: map[cluster.NodeID]bool{}}
	for i := range 16 {
		n := cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("node-%d", i+1)), Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 32 * cluster.GiB},
			Labels: map[string]string{"cluster": "azur", "switch": fmt.Sprintf("sw%d", i/4+1), "mem": fmt.Sprint(32 + 32*(i%2))},
		}
		if i >= 8 {
			n.Labels["cluster"] = "gdx"
			n.Capacity = n.Capacity.Times(2)
		}
		w.Free[n.ID] = i != 1
		w.Nodes = append(w.Nodes, n)
	}
	w.Nodes[2].State = cluster.Offline
	w.Nodes[15].State = cluster.Down
	return w
}

// Each line of testdata/places.txt that begins with > is a request, with optional properties after -p;
// the lines below it are its placement.
func TestPlaces(t *testing.T) {
	golden.Dialogue(t, "testdata/places.txt", func(text string) string { return placed(t, text) })
}

func placed(t *testing.T, text string) string {
	t.Helper()
	text, filter, _ := strings.Cut(text, " -p ")
	r, err := request.Parse([]string{text}, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	f, err := property.Parse("-p", filter)
	if err != nil {
		t.Fatal(err)
	}
	list, err := request.Place(request.Spec{Request: r, Filters: []property.Filter{f}}, site16(), request.DefaultConfig())
	if err != nil {
		code, _ := oar.ExitOf(err)
		return fmt.Sprintf("%v\nexit %d\n", err, code)
	}
	m := &list[0]
	var b strings.Builder
	first := 0
	for i := range m.VMs {
		if i+1 == len(m.VMs) || m.VMs[i+1] != m.VMs[i] {
			fmt.Fprintf(&b, "%d × %s\n", i+1-first, m.VMs[i])
			first = i + 1
		}
	}
	instance(t, m, site16(), make([]int, len(m.VMs))) // the rules parse
	if err := placement.CheckOwn(m.Rules, site16().Nodes, len(m.VMs)); m.Rules != "" && err != nil {
		t.Errorf("%s: a vjob may not state these rules: %v", text, err)
	}
	return b.String() + m.Rules
}

func TestEachAlternativeHasAMeaning(t *testing.T) {
	r, err := request.Parse([]string{"nodes=4,walltime=2", "core=2"}, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	list, err := request.Place(request.Spec{Request: r, Memory: cluster.GiB}, site16(), request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Walltime.Hours() != 2 || list[1].Walltime != request.NoWalltime || list[0].CPU() != 16*cluster.CPU || list[1].CPU() != 2*cluster.CPU {
		t.Errorf("%+v", list)
	}
	for _, m := range list {
		for _, vm := range m.VMs {
			if vm.Memory != cluster.GiB {
				t.Errorf("a VM has %s", vm.Memory)
			}
		}
	}
}

// A cpu of several cores is as many processors of a VM.
func TestCPUsHaveCores(t *testing.T) {
	site := request.DefaultConfig()
	site.CoresPerCPU = 2
	for text, want := range map[string]string{
		"cpu=3": "3 VMs of 2", "nodes=2/cpu=1": "2 VMs of 2", "nodes=2/cpu=2/core=1": "2 VMs of 2", "cpu=2/core=1": "2 VMs of 1", "cpu=1/core=ALL": "1 VM of 2",
		"nodes=1/core=3": "1 VM of 3", "nodes=1/cpu=2/core=ALL": "1 VM of 4", "cpu=1/core=3": "a cpu has 2 cores",
	} {
		r, err := request.Parse([]string{text}, request.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		list, err := request.Place(request.Spec{Request: r}, site16(), site)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s of %s", cluster.Count(len(list[0].VMs), "VM"), list[0].VMs[0].CPU)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Groups with the same conditions share the list of nodes; rules that are still too long are refused.
func TestPlaceLimits(t *testing.T) {
	w := request.Inventory{}
	for i := range 3000 {
		w.Nodes = append(w.Nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("node-%d", i)), Capacity: cluster.Resources{CPU: 64000, Memory: 1 << 18},
			Labels: map[string]string{"number": fmt.Sprint(i), "rack": fmt.Sprint(i % 2), "row": fmt.Sprint(i % 3)},
		})
	}
	for text, want := range map[string]string{
		"{number > 5}/nodes=1" + strings.Repeat("+{number > 5}/nodes=1", 200): "",
		"{number > 0}/nodes=1" + numbered(900):                                "have more than 1048576 bytes",
		"rack=1/row=1/nodes=1" + strings.Repeat("+rack=1/row=1/nodes=1", 900): "have more than 1048576 bytes",
		"core=10000":         "",
		"core=10001":         "more than 10000 VMs",
		"rack=2/core=5001":   "more than 10000 VMs",
		"core=9999+core=2":   "more than 10000 VMs",
		"core=ALL":           "more than 10000 VMs",
		"rack=2/core=ALL":    "more than 10000 VMs",
		"nodes=ALL":          "",
		"rack=1/nodes=BEST":  "",
		"nodes=1/core=64001": "no node that matches has room for a VM of 64001 CPU",
	} {
		r, err := request.Parse([]string{text}, request.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		list, err := request.Place(request.Spec{Request: r}, w, request.DefaultConfig())
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40s: %v, want %s", text, err, want)
		case want == "" && err != nil:
			t.Errorf("%.40s: %v", text, err)
		case want == "" && len(list[0].VMs) <= 1000:
			instance(t, &list[0], w, make([]int, len(list[0].VMs)))
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "+{number > %d}/nodes=1", i+1)
	}
	return b.String()
}

// Each request is placed or refused, and its rules parse.
func FuzzPlace(f *testing.F) {
	for _, text := range []string{
		"cluster=1/switch=2/nodes=2/core=1", "{mem = 64}/nodes=1+core=ALL", "switch=BEST/nodes=ALL/core=4", "Cluster=BESTHALF/cpu=2/core=ALL",
		"{host LIKE 'n%' AND cluster IN ('azur', \"it's\")}/switch=1", "{cluster='azur' OR NOT switch='sw1'}/core=9", "mem=1/nodes=2",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := request.Parse([]string{text}, request.DefaultConfig())
		if err != nil {
			return
		}
		w := site16()
		w.Nodes[0].ID = "node \"1\"\\"
		list, err := request.Place(request.Spec{Request: r}, w, request.DefaultConfig())
		if err != nil {
			if code, _ := oar.ExitOf(err); code != oar.ExitResources {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if n := len(list[0].VMs); n > 0 && n <= 100 {
			instance(t, &list[0], w, make([]int, n))
		}
	})
}

// Errors about defaults have a position, too.
func TestDefaultsHaveAPlace(t *testing.T) {
	site := request.DefaultConfig()
	levels, err := request.ParseDefault("default", "/nodes=1/gpu=12", site)
	if err != nil {
		t.Fatal(err)
	}
	site.Default = levels
	for want, values := range map[string][]string{
		"the default of -l:1:1: gpu stands below network_address": nil,
		"-l:1:1: gpu stands below network_address":                {"walltime=1"},
	} {
		r, err := request.Parse(values, site)
		if err != nil {
			t.Fatal(err)
		}
		_, err = request.Place(request.Spec{Request: r}, request.Inventory{}, request.DefaultConfig())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", values, err, want)
		}
	}
}

func TestNothingFreeIsWaitedFor(t *testing.T) {
	w := site16()
	w.Free = map[cluster.NodeID]bool{}
	for _, text := range []string{"nodes=BEST", "nodes=BESTHALF", "cluster=BEST/nodes=1", "core=BEST", "cluster=1/nodes=BEST"} {
		r, err := request.Parse([]string{text}, request.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		list, err := request.Place(request.Spec{Request: r}, w, request.DefaultConfig())
		if err != nil || len(list[0].VMs) != 1 {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	r, err := request.Parse([]string{"cluster=2/nodes=100/core=2"}, request.DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	w := request.Inventory{}
	for i := range 1000 {
		w.Nodes = append(w.Nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 8000, Memory: 1 << 15},
			Labels: map[string]string{"cluster": fmt.Sprintf("c%d", i/250)},
		})
	}
	b.Run("nodes=1000", func(b *testing.B) {
		for b.Loop() {
			if _, err := request.Place(request.Spec{Request: r}, w, request.DefaultConfig()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// VMs that share reserve their part, without a rule that keeps others off whole nodes; the request must fit as if
// nothing was shared.
func TestSharers(t *testing.T) {
	for _, c := range []struct {
		text   string
		memory cluster.MiB
		want   cluster.Resources
	}{
		{"nodes=2", 0, cluster.Resources{CPU: 2000, Memory: 16 * cluster.GiB}},
		{"nodes=2/core=1", 0, cluster.Resources{CPU: 500, Memory: 4 * cluster.GiB}},
		{"core=3", cluster.GiB, cluster.Resources{CPU: 500, Memory: cluster.GiB}},
	} {
		list, err := sharing(t, c.text, c.memory)
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].VMs[0]; got != c.want || strings.Contains(list[0].Rules, "lonely") {
			t.Errorf("%s: %s, want %s; rules %s", c.text, got, c.want, list[0].Rules)
		}
	}
	if _, err := sharing(t, "nodes=1/core=16", 0); err == nil {
		t.Error("16 processors are on no node")
	}
}

func sharing(t *testing.T, text string, memory cluster.MiB) ([]request.Placement, error) {
	t.Helper()
	r, err := request.Parse([]string{text}, request.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return request.Place(request.Spec{Request: r, Memory: memory, Sharers: 2}, site16(), request.DefaultConfig())
}
