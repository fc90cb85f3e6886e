package solve_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"vjob/papers/repacking"
	"vjob/repack/solve"
)

// BenchmarkLarge measures the first plan of problems in the manner of the paper, with five VMs on each node, up to 200,000
// nodes: elapsed and processor time, and the peak of resident memory of the process, which includes the instance and all
// instances before it.
func BenchmarkLarge(b *testing.B) {
	for _, nodes := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			in, err := repacking.Sample(repacking.SampleOptions{Nodes: nodes, Ratio: 5, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			before, _ := used()
			for b.Loop() {
				r, err := solve.Solve(in, solve.Options{Iterations: -1})
				if err != nil || r.Plan == nil {
					b.Fatal("no plan", err)
				}
			}
			cpu, peak := used()
			b.ReportMetric((cpu-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
		})
	}
}

// used returns the processor time of the process and the peak of its resident memory in KiB.
func used() (cpu time.Duration, peak int64) {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss
}
