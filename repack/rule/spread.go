package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "spread", Doc: "no two of the VMs on one node",
	Params: []Param{{Name: "vms", Type: VMs}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &spread{base: b, vms: b.args.vms("vms")}
	},
})

type spread struct {
	base
	vms []int
}

// Check reports each pair that meets.
func (s *spread) Check(t *repack.Timeline) (list []repack.Breach) {
	for i, a := range s.vms {
		for _, b := range s.vms[i+1:] {
			if b := meet(t, a, b, s.args.Continuous); b != nil {
				list = append(list, *b)
			}
		}
	}
	return list
}

// meet reports whether two VMs are on one node at the end, or at any instant.
// That they were together before the plan began is not the plan's fault.
func meet(t *repack.Timeline, a, b int, continuous bool) *repack.Breach {
	in := t.Instance
	n, aRuns := t.Runs(a)
	m, bRuns := t.Runs(b)
	if aRuns && bRuns && n == m {
		return &repack.Breach{Text: fmt.Sprintf("%s and %s end on %s", in.VMName(a), in.VMName(b), in.NodeName(n)), At: repack.Forever}
	}
	if !continuous {
		return nil
	}
	for _, x := range t.Stays[a] {
		for _, y := range t.Stays[b] {
			if x.Node == y.Node && x.From < y.To && y.From < x.To && !(x.Inherited && y.Inherited) {
				return &repack.Breach{
					Text: fmt.Sprintf("%s and %s are on %s together", in.VMName(a), in.VMName(b), in.NodeName(x.Node)),
					At:   max(x.From, y.From),
				}
			}
		}
	}
	return nil
}

// Post counts the members on each node.
func (s *spread) Post(b repack.Board) {
	scope := repack.Scope{VMs: s.vms}
	b.Guard(&spreadGuard{census: newCensus()}, scope)
	if s.args.Continuous {
		b.Watch(&spreadWatch{census: newCensus()}, scope)
	}
}

// spreadGuard counts a breach for each member beyond the first on a node.
type spreadGuard struct{ census }

func (g *spreadGuard) Delta(_, from, to int) (d int) {
	if from == to {
		return 0
	}
	if from != repack.Nowhere && g.on[from] > 1 {
		d--
	}
	if to != repack.Nowhere && g.on[to] > 0 {
		d++
	}
	return d
}

func (g *spreadGuard) Move(_, from, to int) { g.move(from, to) }

type spreadWatch struct{ census }

func (w *spreadWatch) Admits(_, node int) bool { return w.on[node] == 0 }
func (w *spreadWatch) Come(_, node int)        { w.on[node]++ }
func (w *spreadWatch) Go(_, node int)          { w.on[node]-- }

// census counts how many VMs of a set are on each node.
type census struct{ on map[int]int }

func newCensus() census { return census{map[int]int{}} }

func (c *census) move(from, to int) {
	if from != repack.Nowhere {
		c.on[from]--
	}
	if to != repack.Nowhere {
		c.on[to]++
	}
}
