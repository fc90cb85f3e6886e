// Package energy_test compares the energy engine with the paper's published algorithms and with the
// reference results of instance files, and checks budgets, prices and consolidation over whole days:
//
//	go test ./tests/energy -run Table -v -table
//
// VJOB_ENERGY is the folder of the instance files; by default the few in testdata are used.
// `make bench-energy` is the same.
package energy_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
)

var (
	table = flag.Bool("table", false, "print the table of figures")
	set   = flag.String("set", "", "only classes with this text in their name")
	draws = flag.Int("draws", 10, "instances of each class that is drawn")
)

// tally is what a method came to on a class of instances.
type tally struct {
	lp, lbh, best float64 // sums of how much worse than these, in per cent
	solved, known int
	failed        int
}

func (s *tally) add(in *format.Instance, value float64, ok bool) {
	lp, feasible := solve.LPBound(in.Problem)
	if !ok {
		if feasible {
			s.failed++
		}
		return
	}
	lbh, _ := solve.LBHBound(in.Problem)
	s.solved++
	s.lp += 100 * in.Objective.Gap(value, lp)
	s.lbh += 100 * in.Objective.Gap(value, lbh)
	if best := bestOf(in); best != nil {
		s.known++
		s.best += 100 * in.Objective.Gap(value, *best)
	}
}

// cells are the means, and how many failed where divisible jobs would fit.
func (s *tally) cells() string {
	if s.solved == 0 {
		return fmt.Sprintf("-\t | -\t | -\t | %d", s.failed)
	}
	best := "-"
	if s.known > 0 {
		best = fmt.Sprintf("%.2f", s.best/float64(s.known)+0)
	}
	n := float64(s.solved)
	return fmt.Sprintf("%.2f\t | %.2f\t | %s\t | %d", s.lp/n, s.lbh/n, best, s.failed)
}

// within has our search solve an instance for a while.
func within(t *testing.T, p *energy.Problem, limit time.Duration) (float64, bool) {
	t.Helper()
	start := time.Now()
	r, err := solve.Solve(p, solve.Options{Seed: 1, Stop: func() bool { return time.Since(start) > limit }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Allocation == nil {
		return 0, false
	}
	if _, faults := p.Check(r.Allocation); len(faults) > 0 {
		t.Fatal(p.ID, faults)
	}
	return r.Value, true
}

// published has an algorithm of the paper solve it.
func published(p *energy.Problem, name string) (float64, bool) {
	for _, h := range allocation.All() {
		if h.Name == name && h.For == p.Objective {
			a := h.Algorithm(p)
			if a == nil {
				return 0, false
			}
			m, _ := p.Check(a)
			return p.Objective.Value(m), true
		}
	}
	panic(name)
}

// class is instances that are looked at together.
type class struct {
	name      string
	instances []*format.Instance
}

// TestTable prints the figures of each class: the paper's best algorithm and ours after 0.1
// and 1 s on one processor, in per cent worse than LPBOUND, than the bound with whole
// hosts, and than the best value known, and failures.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("-table prints the figures; it takes some seconds for each instance")
	}
	realloc := map[energy.Objective]string{
		energy.BoundedYield: "ea-resalloc-yield", energy.BoundedPower: "ea-resalloc-power", energy.Mixed: "ea-resalloc-mixed",
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	_, _ = fmt.Fprintln(w, "| class\t | n\t | EA-RESALLOC: LP\t | LBH\t | best\t | fails\t | 0.1 s: LP\t | LBH\t | best\t | fails\t | 1 s: LP\t | LBH\t | best\t | fails\t |")
	_, _ = fmt.Fprintln(w, "|"+strings.Repeat(" ---\t |", 14))
	for _, c := range append(publicClasses(t), drawnClasses()...) {
		if !strings.Contains(c.name, *set) {
			continue
		}
		var ea, short, long tally
		for _, in := range c.instances {
			value, ok := published(in.Problem, realloc[in.Objective])
			ea.add(in, value, ok)
			value, ok = within(t, in.Problem, 100*time.Millisecond)
			short.add(in, value, ok)
			value, ok = within(t, in.Problem, time.Second)
			long.add(in, value, ok)
		}
		_, _ = fmt.Fprintf(w, "| %s\t | %d\t | %s\t | %s\t | %s\t |\n", c.name, len(c.instances), ea.cells(), short.cells(), long.cells())
		_ = w.Flush()
	}
}

// publicClasses sorts the instances of the files by problem and size.
func publicClasses(t *testing.T) (list []class) {
	t.Helper()
	at := map[string]int{}
	for _, in := range instances(t) {
		size := "to 8 hosts"
		if len(in.Nodes) > 8 {
			size = "from 16 hosts"
		}
		name := fmt.Sprintf("%s, public, %s", in.Objective, size)
		i, there := at[name]
		if !there {
			i = len(list)
			at[name] = i
			list = append(list, class{name: name})
		}
		list[i].instances = append(list[i].instances, in)
	}
	return list
}

// drawnClasses are drawn from the paper's distribution: all its classes, and the hard ones.
func drawnClasses() (list []class) {
	for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		all := class{name: o.String() + ", drawn, all classes"}
		for _, hosts := range []int{4, 6, 8, 16, 32, 64} {
			for ratio := 1; ratio <= 3; ratio++ {
				all.instances = append(all.instances, drawn(o, hosts, hosts*ratio, max(1, *draws/5))...)
			}
		}
		list = append(list, all,
			class{o.String() + ", drawn, 64/192", drawn(o, 64, 192, *draws)},
			class{o.String() + ", drawn, 500/1500", drawn(o, 500, 1500, max(1, *draws/5))})
	}
	return list
}

func drawn(o energy.Objective, hosts, jobs, count int) (list []*format.Instance) {
	for seed := range uint64(count) {
		lambda := []float64{0.2, 0.5, 0.8}[seed%3]
		list = append(list, &format.Instance{Problem: allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: hosts, Jobs: jobs, Lambda: lambda, Seed: 1000 + seed})})
	}
	return list
}

// bestOf is the best value that the file knows.
func bestOf(in *format.Instance) *float64 {
	if in.Reference == nil || in.Reference.Best == nil || in.Reference.Best.Value == nil || math.IsNaN(*in.Reference.Best.Value) {
		return nil
	}
	return in.Reference.Best.Value
}
