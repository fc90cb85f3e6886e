package solve_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/repack"
	"vjob/repack/format"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// BenchmarkFirstPlan measures how long the first plan takes, and how far it is from
// the bound: for the instances below the folder that VJOB_BRSP names, by the name of
// the file, or if it names none for planted ones.
func BenchmarkFirstPlan(b *testing.B) { each(b, solve.Options{Iterations: -1}) }

// BenchmarkImprove measures a thousand rounds of improvement.
func BenchmarkImprove(b *testing.B) { each(b, solve.Options{Iterations: 1000, Seed: 1}) }

func each(b *testing.B, o solve.Options) {
	b.Helper()
	for name, problem := range benches(b) {
		b.Run(name, func(b *testing.B) {
			in := problem()
			var r *solve.Result
			for b.Loop() {
				var err error
				if r, err = solve.Solve(in, o); err != nil {
					b.Fatal(err)
				}
			}
			if r.Plan != nil {
				b.ReportMetric(float64(r.Figures.Objective), "objective")
				b.ReportMetric(float64(r.Figures.Objective)/float64(max(1, r.Bound)), "objective/bound")
			}
		})
	}
}

// benches are the problems, in order of their names, made when they are needed.
func benches(b *testing.B) func(yield func(string, func() *repack.Instance) bool) {
	b.Helper()
	paths, err := filepath.Glob(filepath.Join(os.Getenv("VJOB_BRSP"), "*.json.gz"))
	if err != nil {
		b.Fatal(err)
	}
	return func(yield func(string, func() *repack.Instance) bool) {
		for _, path := range paths {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			if !yield(name, func() *repack.Instance { return unpack(b, path) }) {
				return
			}
		}
		if len(paths) > 0 {
			return
		}
		for _, percent := range []int{90, 95} {
			o := planted.Options{Nodes: 200, Fill: float64(percent) / 100, Seed: 1}
			if !yield(fmt.Sprintf("planted-%d", percent), func() *repack.Instance { return planted.New(o) }) {
				return
			}
		}
	}
}

// unpack reads an instance file that is packed.
func unpack(b *testing.B, path string) *repack.Instance {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	in, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	p, err := format.ReadInstance(in, path)
	if err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return p.Instance
}
