package day_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"vjob/sim/day"
)

// planetlab is a day of 60 VMs, and nodes on which it is crowded at times.
func planetlab(t *testing.T) (*day.Trace, []day.Node) {
	t.Helper()
	f, err := os.Open("testdata/planetlab-60.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	tr, err := day.ReadPercent("planetlab-60.csv", f, 1)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := day.ParseNodes("nodes", "3x1x24GiB,3x2x24GiB,1x4x48GiB")
	if err != nil {
		t.Fatal(err)
	}
	return tr, nodes
}

// bitbrains is a day of 31 VMs.
func bitbrains(t *testing.T) (*day.Trace, []day.Node) {
	t.Helper()
	var in []day.Input
	for _, name := range []string{"cpu_mhz", "meta", "mem_mb"} {
		f, err := os.Open("testdata/bitbrains." + name + ".csv.gz")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		in = append(in, day.Input{Name: name, Reader: f})
	}
	tr, err := day.ReadMHz(in[0], in[1], &in[2])
	if err != nil {
		t.Fatal(err)
	}
	return tr, day.DefaultNodes(tr)
}

func runs(t *testing.T, tr *day.Trace, nodes []day.Node, names ...string) map[string]*day.Result {
	t.Helper()
	ways, err := day.WaysNamed("ways", names)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*day.Result{}
	for _, w := range ways {
		r, err := day.Run(tr, nodes, w, 1)
		if err != nil {
			t.Fatal(err)
		}
		all[w.Name] = r
		t.Logf("%-12s happy %.2f of %.2f, %d moves, %d back, imbalance %.3f, %.1f kWh, crowded %.1f h, memory %.2f", w.Name, r.HappyHours, r.VMHours, r.Moves,
			r.Returns, r.MeanImbalance, r.Energy.KWh(), r.CrowdedHours, r.MostMemory)
		if r.MostMemory > 1 {
			t.Errorf("%s: a node has %.2f of its memory in use", w.Name, r.MostMemory)
		}
		if w.Power == nil && (r.Offs+r.Ons > 0 || r.NodesOn != float64(len(nodes))) {
			t.Errorf("%s: nodes are switched", w.Name)
		}
	}
	return all
}

// What balance promises holds for recorded days: happier VMs than without, nearly as many as with the paper's DRS or
// more, not many more moves, a lower imbalance, no move back within an hour, and no node beyond its memory.
func TestDays(t *testing.T) {
	for name, read := range map[string]func(*testing.T) (*day.Trace, []day.Node){"PlanetLab": planetlab, "Bitbrains": bitbrains} {
		t.Run(name, func(t *testing.T) {
			tr, nodes := read(t)
			all := runs(t, tr, nodes, "off", "drs", "spread")
			off, paper, ours := all["off"], all["drs"], all["spread"]
			if off.Moves > 0 || off.CrowdedHours < 5 || off.HappyHours >= off.VMHours-1 {
				t.Fatalf("the day says nothing: %.1f crowded hours, %.2f of %.2f happy", off.CrowdedHours, off.HappyHours, off.VMHours)
			}
			for name, r := range all {
				if r.VMHours != off.VMHours || r.Demand != off.Demand || r.Delivered > r.Demand*(1+1e-9) {
					t.Errorf("%s: other work than without balance", name)
				}
			}
			if ours.HappyHours <= off.HappyHours || ours.HappyHours < paper.HappyHours*0.998 || ours.MeanImbalance >= off.MeanImbalance {
				t.Errorf("%.2f happy VM-hours, DRS %.2f; imbalance %.3f", ours.HappyHours, paper.HappyHours, ours.MeanImbalance)
			}
			if ours.Moves == 0 || ours.Moves > paper.Moves*3/2 || ours.Returns > 0 {
				t.Errorf("%d moves, %d of them back, DRS %d", ours.Moves, ours.Returns, paper.Moves)
			}
		})
	}
}

// Packing uses fewer nodes, and power management switches off what is empty, without moving VMs back and forth.
func TestPackedDay(t *testing.T) {
	tr, nodes := bitbrains(t)
	tr.Cut(96)
	all := runs(t, tr, nodes, "off", "pack", "drs+dpm")
	off, pack, dpm := all["off"], all["pack"], all["drs+dpm"]
	if pack.NodesUsed >= off.NodesUsed-1 || pack.Returns > 0 {
		t.Errorf("%.1f nodes are used, %.1f without; %d moves back", pack.NodesUsed, off.NodesUsed, pack.Returns)
	}
	if dpm.Offs == 0 || dpm.Energy >= off.Energy {
		t.Errorf("%d nodes go off, %.2f kWh, %.2f without", dpm.Offs, dpm.Energy.KWh(), off.Energy.KWh())
	}
}

// The same file, nodes and seed give the same result.
func TestSameEveryTime(t *testing.T) {
	tr, nodes := bitbrains(t)
	tr.Cut(36)
	ways, err := day.WaysNamed("ways", []string{"pack+power"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := day.Run(tr, nodes, ways[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	again, err := day.Run(tr, nodes, ways[0], 3)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.Samples, again.Samples) || first.Energy != again.Energy {
		t.Error("two runs differ")
	}
}

// A VM that stays on a node with two others gets a third of it while all want more, and what it wants while they leave that.
func TestEqualShares(t *testing.T) {
	tr, err := day.ReadPercent("f", strings.NewReader("a,100,20\nb,100,100\nc,100,70\n"), 1)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := day.ParseNodes("nodes", "1x1x64GiB")
	if err != nil {
		t.Fatal(err)
	}
	r, err := day.Run(tr, nodes, day.Ways()[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.HappyHours * 12; h < 0.999 || h > 1.001 { // a in the second step
		t.Errorf("%.3f VMs are happy for five minutes, want 1", h)
	}
	if r.Payload < 0.999 || r.Payload > 1.001 || r.CrowdedHours*12 < 1.999 {
		t.Errorf("payload %.3f, %.3f crowded hours", r.Payload, r.CrowdedHours)
	}
}

func TestNodes(t *testing.T) {
	nodes, err := day.ParseNodes("--nodes", "2x8x32GiB, 1x16x64GiB")
	if err != nil || len(nodes) != 3 || nodes[2].Capacity.CPU != 16000 || day.FormatNodes(nodes) != "2x8x32GiB,1x16x64GiB" {
		t.Errorf("%+v, %v", nodes, err)
	}
	for text, want := range map[string]string{
		"":              `--nodes: "" is not COUNTxPROCESSORSxMEMORY`,
		"20x8":          `--nodes: "20x8" is not COUNTxPROCESSORSxMEMORY`,
		"0x8x32GiB":     `--nodes: "0x8x32GiB" is not`,
		"2x8x32GiB,x":   `--nodes: "x" is not`,
		"20000x8x32GiB": `at most 10000 nodes`,
	} {
		if _, err := day.ParseNodes("--nodes", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	tr, _ := planetlab(t)
	small, err := day.ParseNodes("nodes", "2x8x8GiB")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := day.Run(tr, small, day.Ways()[0], 1); err == nil || !strings.Contains(err.Error(), "nodes: too small: VM ") {
		t.Errorf("got %v", err)
	}
}
