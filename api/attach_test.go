package api_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/client"
	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// echo has consoles that return their input.
type echo struct{ asked chan cluster.NodeID }

func (e echo) Attach(_ context.Context, _ cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	e.asked <- node
	near, far := net.Pipe()
	go func() {
		_, _ = io.Copy(far, far)
		_ = far.Close()
	}()
	return near, nil
}

// attachedServer returns a server with vjob 1 of alice running on n1, and a console of it.
func attachedServer(t *testing.T) (*fixture, *httptest.Server, io.ReadWriteCloser) {
	t.Helper()
	e := echo{make(chan cluster.NodeID, 1)}
	b := newFixture(t, func(c *api.Config) { c.Attacher, c.HeartbeatEvery = e, 20*time.Millisecond })
	b.populate()
	b.scheduler.statuses()[1] = scheduler.VJobStatus{State: cluster.Running, Gang: gang.Record{Members: []gang.Member{{Node: "n1"}}}}
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	c, err := client.New(client.Settings{Server: server.URL, Token: b.tokens["alice"]})
	b.must(err)
	t.Cleanup(c.Close)
	line, err := c.Attach(t.Context(), 1, 0)
	b.must(err)
	t.Cleanup(func() { _ = line.Close() })
	if node := <-e.asked; node != "n1" {
		t.Errorf("asked of %s", node)
	}
	return b, server, line
}

// waitClosed waits for the end of a console.
func waitClosed(t *testing.T, line io.Reader) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, line)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the console stays open")
	}
}

// All bytes come back unchanged, and the consoles of a revoked token are closed.
func TestAttach(t *testing.T) {
	b, _, line := attachedServer(t)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	text := strings.Repeat(string(every), 100)
	go func() { _, _ = io.WriteString(line, text) }()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(line, got); err != nil || string(got) != text {
		t.Errorf("%d bytes came back as others: %v", len(text), err)
	}
	tokens, err := b.scheduler.Tokens(t.Context(), "alice")
	b.must(err)
	for _, token := range tokens {
		b.must(b.scheduler.RevokeToken(t.Context(), "alice", token.ID, journal.Audit{}))
	}
	waitClosed(t, line)
}

// The error for a request without an upgrade names the protocol.
func TestAttachWithoutUpgrade(t *testing.T) {
	b, server, _ := attachedServer(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/vjobs/1/console", nil)
	b.must(err)
	r.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
	res, err := http.DefaultClient.Do(r)
	b.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "vjob-console") {
		t.Errorf("%s: %s", res.Status, text)
	}
}
