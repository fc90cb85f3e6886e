package api_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/client"
	"vjob/api/wire"
	"vjob/scheduler"
)

// busyScheduler is a loop with forecasts that keep a processor busy.
type busyScheduler struct{ *fakeScheduler }

func (s busyScheduler) WhatIf(ctx context.Context, supposed scheduler.WhatIf) (scheduler.WhatIfResult, error) {
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
	}
	return s.fakeScheduler.WhatIf(ctx, supposed)
}

// attackUntilStopped keeps so many connections of an attack open until stop is called: each is
// opened anew when the server closes it, ten times a second at most.
func (b *fixture) attackUntilStopped(address string, n int, text string, reads bool) (stop func()) {
	ctx, cancel := context.WithCancel(b.tb.Context())
	var attacking sync.WaitGroup
	for range n {
		attacking.Go(func() {
			for ctx.Err() == nil {
				b.attackOnce(ctx, address, text, reads)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); attacking.Wait() }
}

// attackOnce is one connection of an attack, until the server closes it.
func (b *fixture) attackOnce(ctx context.Context, address, text string, reads bool) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	_ = conn.(*net.TCPConn).SetReadBuffer(2 << 10) // else it takes more of what is not read
	if _, err := io.WriteString(conn, text); err != nil {
		return
	}
	if reads {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	for ctx.Err() == nil { // nothing is read; writing tells when the server has had enough
		time.Sleep(100 * time.Millisecond)
		if _, err := io.WriteString(conn, "\r\n"); err != nil {
			return
		}
	}
}

// BenchmarkSubmitUnderAttack is an honest user's submissions over the address that is
// attacked, while each attack goes on.
func BenchmarkSubmitUnderAttack(b *testing.B) {
	whatIf := `{"submit":` + anonymous + `}`
	json := "Content-Type: application/json\r\nContent-Length: %d\r\n"
	for _, attack := range []struct {
		name                 string
		n                    int
		caller, method, path string
		header, body         string
		repeated             int
		reads                bool
	}{
		{name: "none", repeated: 1},
		{name: "unread-without-token", n: 256, method: "GET", path: "/v1/openapi.json", repeated: 80},
		{name: "unread-with-token", n: 256, caller: "bob", method: "GET", path: "/metrics", repeated: 80},
		{name: "slow-bodies", n: 256, caller: "bob", method: "POST", path: "/v1/vjobs", header: fmt.Sprintf(json, 1000), repeated: 1, reads: true},
		{name: "event-streams", n: 64, caller: "bob", method: "GET", path: "/v1/events", header: "Accept: text/event-stream\r\n", repeated: 1, reads: true},
		{name: "idle", n: 400, method: "GET", path: "/healthz", repeated: 1, reads: true},
		{name: "what-ifs", n: 200, caller: "bob", method: "POST", path: "/v1/what-if", header: fmt.Sprintf(json, len(whatIf)), body: whatIf, repeated: 1, reads: true},
	} {
		b.Run(attack.name, func(b *testing.B) {
			s := newFixture(b, func(c *api.Config) { c.Scheduler = busyScheduler{c.Scheduler.(*fakeScheduler)} })
			s.populate()
			_, server := s.serve()
			text := ""
			if attack.n > 0 {
				text = strings.Repeat(s.request(attack.caller, attack.method, attack.path, attack.header)+attack.body, attack.repeated)
			}
			stop := s.attackUntilStopped(strings.TrimPrefix(server, "http://"), attack.n, text, attack.reads)
			defer stop()
			honest, err := client.New(client.Settings{Server: server, Token: s.tokens["alice"]})
			s.must(err)
			defer honest.Close()
			time.Sleep(500 * time.Millisecond) // until all of them are there
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				_, _, err := honest.Submit(b.Context(), wire.Submission{Count: 9, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 512}}, "")
				s.must(err)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
		})
	}
}
