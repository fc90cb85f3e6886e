package daemon_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/daemon/settings"
)

// BenchmarkRestart measures a start with many vjobs that wait, until the daemon is ready: the processor time, and what is
// alive then. Vjobs of an array share a specification; others do not.
func BenchmarkRestart(b *testing.B) {
	debug.SetGCPercent(50) // as at run time
	for _, size := range []struct{ vjobs, array int }{{10_000, 1}, {10_000, 10_000}, {100_000, 10_000}} {
		b.Run(fmt.Sprintf("vjobs=%d/array=%d", size.vjobs, size.array), func(b *testing.B) {
			s := small(b, func(s *settings.Settings) {
				s.Nodes = []settings.Node{{Name: "n[1-8]", CPU: settings.CPU{MilliCPU: 4000}, Memory: settings.Size{MiB: 8192}}}
				s.Limits.VJobsPerUser, s.Limits.VMsPerUser, s.Limits.RequestsPerSecond = 0, 0, 0
				s.Timing.Rest.Duration = time.Minute // one decision
			})
			c, stop := start(b, s)
			for range size.vjobs / size.array {
				submitArray(b, c, size.array)
			}
			stop()
			var used time.Duration
			var alive uint64
			for b.Loop() {
				before, without := processorTime(b), heap()
				c, stop := start(b, s)
				for {
					if h, err := c.Health(b.Context()); err == nil && h.Ready {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				used += processorTime(b) - before
				b.StopTimer()
				alive += heap() - without
				stop()
				b.StartTimer()
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
			b.ReportMetric(float64(alive)/float64(b.N)/(1<<20), "MiB-alive")
		})
	}
}

// submitArray submits vjobs of four VMs that never end.
func submitArray(b *testing.B, c *client.Client, vjobs int) {
	b.Helper()
	s := wire.Submission{Count: 4, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}}
	if vjobs > 1 {
		s.Array = vjobs
	}
	if _, _, err := c.Submit(b.Context(), s, ""); err != nil {
		b.Fatal(err)
	}
}

// heap returns what is alive, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found only through pools and finalizers
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processorTime returns the processor time that the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
