// Package planted generates repacking problems with a known solution: it makes a final packing,
// as full as wanted, and shuffles it backwards by feasible moves to the initial placement. The
// fuller the packing, the harder the problem: sizes are mixed, nodes differ, and VMs must swap
// where there is no room for both.
package planted

import (
	"math/rand/v2"

	"vjob/repack"
)

// Options say how hard a problem is.
type Options struct {
	Nodes int
	// Fill is the share of the capacity that is in use at the end, in both dimensions.
	Fill float64
	// Wait is the share of the VMs that do not run yet, which leaves initial room for moves. 0
	// is 0.05.
	Wait float64
	// Shuffle is the number of backward moves per VM. 0 is 0.5.
	Shuffle float64
	// Flavours gives VMs the few sizes that a cloud sells, except for one VM on each node
	// that takes what is left. Without it hardly two VMs have the same size.
	Flavours bool
	Seed     uint64
}

// Kinds of nodes, in units of CPU and memory, and the VMs' sizes.
var (
	kinds = [...][2]int64{{160, 640}, {240, 960}, {320, 1920}}
	sizes = [...]int64{5, 10, 20, 20, 40, 65, 80}

	flavours = [...][2]int64{{10, 40}, {20, 80}, {40, 160}, {80, 320}, {10, 80}, {20, 160}, {40, 320}}
)

// New generates a problem. The same options give the same problem.
func New(o Options) *repack.Instance {
	if o.Wait == 0 {
		o.Wait = 0.05
	}
	if o.Shuffle == 0 {
		o.Shuffle = 0.5
	}
	g := &generator{
		rng: rand.New(rand.NewPCG(o.Seed, uint64(o.Nodes))),
		in:  &repack.Instance{Name: "planted", Dims: []string{"cpu", "mem"}, NodeOff: 1, NodeOn: 1},
	}
	for range o.Nodes {
		kind := kinds[g.rng.IntN(len(kinds))]
		g.in.Nodes = append(g.in.Nodes, repack.Node{Capacity: []int64{kind[0], kind[1]}})
	}
	for n := range g.in.Nodes {
		g.plant(n, o.Fill, o.Flavours)
	}
	g.uproot(o.Wait)
	g.shuffle(int(o.Shuffle * float64(len(g.in.VMs))))
	g.relax()
	return g.in
}

type generator struct {
	rng  *rand.Rand
	in   *repack.Instance
	free [][2]int64
}

// plant fills a node with VMs; the last takes what is left of the share.
func (g *generator) plant(n int, fill float64, flavours bool) {
	c := g.in.Nodes[n].Capacity
	cpu, mem := int64(fill*float64(c[0])), int64(fill*float64(c[1]))
	g.free = append(g.free, [2]int64{c[0] - cpu, c[1] - mem})
	for cpu > 0 && mem > 0 {
		a, b := g.size(flavours)
		if a+5 > cpu || b+5 > mem {
			a, b = cpu, mem
		}
		g.add(n, a, b)
		cpu, mem = cpu-a, mem-b
	}
}

// size draws the size of a VM.
func (g *generator) size(flavoured bool) (cpu, mem int64) {
	if flavoured {
		f := flavours[g.rng.IntN(len(flavours))]
		return f[0], f[1]
	}
	size := sizes[g.rng.IntN(len(sizes))]
	return size, size * int64(20+g.rng.IntN(60)) / 10 // 2 to 8 of memory for each of CPU
}

func (g *generator) add(n int, cpu, mem int64) {
	g.in.VMs = append(g.in.VMs, repack.VM{
		State: repack.Running, Want: repack.Running, Host: n,
		Now: []int64{cpu, mem}, Next: []int64{cpu, mem}, Weight: 1,
		Takes: repack.Durations{
			Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: repack.Ticks(mem/10 + 1),
		},
	})
}

// uproot makes some VMs wait to be booted.
func (g *generator) uproot(share float64) {
	for vm := range g.in.VMs {
		v := &g.in.VMs[vm]
		if g.rng.Float64() >= share {
			continue
		}
		g.free[v.Host][0] += v.Next[0]
		g.free[v.Host][1] += v.Next[1]
		v.State, v.Host = repack.Ready, repack.Nowhere
	}
}

// shuffle moves VMs to nodes with room. Each move can be reversed, so a plan exists.
func (g *generator) shuffle(moves int) {
	for range 50 * moves {
		if moves == 0 {
			return
		}
		v := &g.in.VMs[g.rng.IntN(len(g.in.VMs))]
		n := g.rng.IntN(len(g.in.Nodes))
		if v.State != repack.Running || n == v.Host || g.free[n][0] < v.Next[0] || g.free[n][1] < v.Next[1] {
			continue
		}
		for d := range 2 {
			g.free[n][d] -= v.Next[d]
			g.free[v.Host][d] += v.Next[d]
		}
		v.Host = n
		moves--
	}
}

// relax lets a third of the running VMs use less CPU at first than at the end.
func (g *generator) relax() {
	for vm := range g.in.VMs {
		if v := &g.in.VMs[vm]; v.State == repack.Running && g.rng.IntN(3) == 0 {
			v.Now = []int64{v.Next[0] / 2, v.Next[1]}
		}
	}
}
