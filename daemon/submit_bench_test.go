package daemon_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vjob/daemon/settings"
)

// BenchmarkSubmit measures submissions of nine VMs over the socket, up to the answer: the processor time of daemon and
// client, and, with -benchmem, what the daemon allocates. The client hardly allocates.
func BenchmarkSubmit(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			debug.SetGCPercent(50) // as at run time
			s := small(b, func(s *settings.Settings) {
				s.Nodes = []settings.Node{{Name: "n[1-8]", CPU: settings.CPU{MilliCPU: 4000}, Memory: settings.Size{MiB: 8192}}}
				s.Limits.VJobsPerUser, s.Limits.VMsPerUser, s.Limits.RequestsPerSecond = 0, 0, 0
				s.Simulated.Speed, s.Timing.Rest.Duration, s.Timing.Tick.Duration = 20, 100*time.Millisecond, time.Second
			})
			c, _ := start(b, s)
			for {
				if h, err := c.Health(b.Context()); err == nil && h.Ready {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			before := processorTime(b)
			b.ReportAllocs()
			b.ResetTimer()
			var next atomic.Int64
			var wait sync.WaitGroup
			for range clients {
				wait.Go(func() { submitAll(b, s.Listen.Socket, &next) })
			}
			wait.Wait()
			b.StopTimer()
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "processor-us/op")
		})
	}
}

// submitAll submits vjobs on one connection until b.N are submitted.
func submitAll(b *testing.B, socket string, next *atomic.Int64) {
	b.Helper()
	const body = `{"count":9,"template":{"cpu_milli":1000,"memory_mib":512}}`
	request := fmt.Appendf(nil, "POST /v1/vjobs HTTP/1.1\r\nHost: vjobd\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	var d net.Dialer
	conn, err := d.DialContext(b.Context(), "unix", socket)
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	answer := bufio.NewReader(conn)
	for next.Add(1) <= int64(b.N) {
		if _, err := conn.Write(request); err != nil {
			b.Error(err)
			return
		}
		if err := skipAnswer(answer); err != nil {
			b.Error(err)
			return
		}
	}
}

// skipAnswer reads the answer to a submission that is accepted.
func skipAnswer(from *bufio.Reader) error {
	length := 0
	for first := true; ; first = false {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.Contains(line, []byte(" 201 ")) {
			return fmt.Errorf("answer: %s", line)
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch string(name) {
		case "":
			_, err := from.Discard(length)
			return err
		case "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
}
