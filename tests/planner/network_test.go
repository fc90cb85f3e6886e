package planner_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"vjob/papers/repacking"
	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// wired is a problem with a network: bandwidths in MB/s, and the number of nodes to switch off.
type wired struct {
	name  string
	wires planted.Wires
	off   int
}

// wirings are racks of 50 nodes with NICs of 1 and 10 Gbit/s. The ratio is by how much the
// uplink of a rack is narrower than its NICs together.
var wirings = []wired{
	{"1 Gbit/s", planted.Wires{NIC: 125}, 10},
	{"1 Gbit/s, 5:1", planted.Wires{NIC: 125, Uplink: 1250}, 10},
	{"1 Gbit/s, 20:1, VMs that write", planted.Wires{NIC: 125, Uplink: 312, Dirty: 60}, 10},
	{"10 Gbit/s, 5:1", planted.Wires{NIC: 1250, Uplink: 12500}, 10},
	{"10 Gbit/s, 20:1", planted.Wires{NIC: 1250, Uplink: 3125}, 10},
	{"10 Gbit/s, 20:1, VMs that write", planted.Wires{NIC: 1250, Uplink: 3125, Dirty: 600}, 10},
	{"10 Gbit/s, 20:1, a rack goes off", planted.Wires{NIC: 1250, Uplink: 3125}, 50},
}

// problem returns a problem of the paper's distribution, with a network.
func (w *wired) problem(t *testing.T, nodes int) *repack.Instance {
	t.Helper()
	in, err := repacking.Sample(repacking.SampleOptions{Nodes: nodes, Ratio: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for n := range in.Nodes {
		in.Nodes[n].Want = repack.Online
		if n < w.off {
			in.Nodes[n].Want = repack.Offline
		}
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		switch {
		case v.Host < 0 || v.Host >= w.off:
		case v.State == repack.Sleeping:
			v.Host += w.off
		case v.Want == repack.Sleeping: // its image could not stay
			v.Want = repack.Ready
		}
	}
	wires := w.wires
	wires.PerUnit = 100 // a unit of memory is 100 MB
	planted.Connect(in, wires)
	return in
}

// withoutNetwork returns the problem in the model without a network.
func withoutNetwork(in *repack.Instance) *repack.Instance {
	out := *in
	out.Network = nil
	return &out
}

// A plan that knows the network is better on real links than one that does not, and ends there
// no later than it says.
func TestNetworkPays(t *testing.T) {
	for _, w := range wirings {
		in := w.problem(t, 200)
		first := func(in *repack.Instance) *solve.Result {
			r, err := solve.Solve(in, solve.Options{Iterations: -1})
			if err != nil || r.Plan == nil {
				t.Fatal(w.name, err, r)
			}
			return r
		}
		aware, blind := first(in), first(withoutNetwork(in))
		promised := float64(aware.Figures.Objective)
		got, _ := execute(t, in, blind.Plan)
		kept, _ := execute(t, in, aware.Plan)
		if promised >= got || kept > promised {
			t.Errorf("%s: %.0f promised, %.0f kept, %.0f without the network", w.name, promised, kept, got)
		}
	}
}

// TestNetworkTable prints the times of plans on real links, with and without knowledge of the
// network.
func TestNetworkTable(t *testing.T) {
	if !*table {
		t.Skip("-table prints the figures, for each problem twice -limit")
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	row := func(cells ...string) {
		_, _ = fmt.Fprintf(out, "| %s |\n", strings.Join(cells, "\t | "))
		_ = out.Flush()
	}
	row("network", "plain plan promises", "comes to", "makespan", "plan with the network", "makespan", "bound", "first plan")
	row("---", "---", "---", "---", "---", "---", "---", "---")
	for _, w := range wirings {
		in := w.problem(t, 1000)
		blind, aware := search(t, withoutNetwork(in), *limit), search(t, in, *limit)
		if blind.Plan == nil || aware.Plan == nil {
			t.Fatal(w.name, blind.Why, aware.Why)
		}
		aware.valid(t, in)
		completion, makespan := execute(t, in, blind.Plan)
		row(w.name, fmt.Sprint(blind.Figures.Objective), timeText(completion), timeText(makespan),
			fmt.Sprint(aware.Figures.Objective), fmt.Sprint(aware.Figures.Makespan), fmt.Sprint(aware.Bound), fmt.Sprintf("%.3f s", aware.first.Seconds()))
	}
}

// timeText formats a time on real links. A VM that writes faster than its share of a link never
// ends its migration.
func timeText(x float64) string {
	if x > 1e9 {
		return "never ends"
	}
	return fmt.Sprintf("%.0f", x)
}
