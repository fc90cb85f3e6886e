package api_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// serve runs the server on a unix socket and on loopback until the test ends, and
// returns the addresses of both.
func (b *fixture) serve() (socket, address string) {
	b.tb.Helper()
	dir, err := os.MkdirTemp("", "vjob") // t.TempDir can be too long for a socket
	b.must(err)
	path := filepath.Join(dir, "s", "vjobd.sock")
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.tb.Context()))
	unix, err := api.Listen(ctx, "unix://"+path, nil)
	b.must(err)
	tcp, err := api.Listen(ctx, "127.0.0.1:0", nil)
	b.must(err)
	done := make(chan error, 1)
	go func() { done <- b.Serve(ctx, unix, tcp) }()
	b.tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.tb.Errorf("serve: %v", err)
		}
		if _, err := os.Stat(path); err == nil {
			b.tb.Error("the socket is left behind")
		}
		_ = os.RemoveAll(dir)
	})
	return "unix://" + path, "http://" + tcp.Addr().String()
}

func (b *fixture) client(server, caller string) *client.Client {
	b.tb.Helper()
	c, err := client.New(client.Settings{Server: server, Token: b.tokens[caller], Backoff: time.Millisecond})
	b.must(err)
	b.tb.Cleanup(c.Close)
	return c
}

func (b *fixture) writeEvents(events ...journal.Event) {
	b.tb.Helper()
	b.must(b.write(events...))
}

// write is for other goroutines than that of the test.
func (b *fixture) write(events ...journal.Event) error {
	for i := range events {
		events[i].At = epoch
	}
	err := b.scheduler.Commit(b.tb.Context(), journal.Step{Events: events})
	b.Notify()
	return err
}

// writeInBackground writes so many of the same events beside the test, one batch after the other.
// The test waits for what is returned, or its context ends beneath a write that others
// can already read.
func (b *fixture) writeInBackground(turns int, events ...journal.Event) (done func()) {
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for range turns {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if err := b.write(slices.Clone(events)...); err != nil {
				b.tb.Errorf("write %+v: %v", events, err)
			}
		}
	})
	return sync.OnceFunc(func() { close(stop); writing.Wait() })
}

func TestFollow(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.HeartbeatEvery, c.PollEvery = 20*time.Millisecond, 40*time.Millisecond
	})
	b.populate()
	_, address := b.serve()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	written := b.writeInBackground(10,
		journal.Event{Kind: journal.EventState, VJob: 2, State: "running", Text: "not for alice"},
		journal.Event{Kind: journal.EventState, VJob: 1, State: "running", Text: "for alice"},
	)
	defer written()
	var seen []int64
	for e, err := range b.client(address, "alice").Follow(ctx, client.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.VJob != 1 {
			t.Errorf("alice receives %+v", e)
		}
		if seen = append(seen, e.Seq); len(seen) == 12 {
			break
		}
	}
	written()
	all, err := b.client(address, "alice").Events(t.Context(), client.EventQuery{})
	if err != nil || len(all.Events) != 12 || !slices.IsSorted(seen) {
		t.Errorf("streamed %v, kept %d, %v", seen, len(all.Events), err)
	}
	for i, e := range all.Events {
		if seen[i] != e.Seq {
			t.Errorf("streamed %v, kept %+v", seen, e)
		}
	}
	// A stream of the latest events begins at an instant that only the server knows.
	written = b.writeInBackground(math.MaxInt, journal.Event{Kind: journal.EventAlarm, VJob: 1, Text: "new"})
	defer written()
	for e, err := range b.client(address, "alice").Follow(ctx, client.EventQuery{Latest: true}) {
		if err != nil || e.Text != "new" {
			t.Errorf("a stream from now on begins with %+v, %v", e, err)
		}
		break
	}
	if ctx.Err() != nil {
		t.Error("too slow")
	}
}

// A list of the latest events says where a stream goes on, also if it has none of these: what happens between the two is not
// missed.
func TestLatestEventsSayWhereToGoOn(t *testing.T) {
	b := newFixture(t)
	b.populate()
	all := read[wire.EventList](t, b.as("root", "GET", "/v1/events", ""), 200).Events
	end := all[len(all)-1].Seq
	for _, query := range []string{"latest=true", "latest=true&kind=prices", "latest=true&kind=submitted&limit=1"} {
		if list := read[wire.EventList](t, b.as("root", "GET", "/v1/events?"+query, ""), 200); list.Last != end {
			t.Errorf("%s: %d events, and all up to %d, want %d", query, len(list.Events), list.Last, end)
		}
	}
}

func TestStreamResumesAndBeats(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.HeartbeatEvery = 10 * time.Millisecond
		c.Limits.BodyTime = 50 * time.Millisecond // streams last longer than requests may
	})
	b.populate()
	_, address := b.serve()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1/events?vjob=1", nil)
	b.must(err)
	req.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
	req.Header.Set("Accept", "text/event-stream")
	all := read[wire.EventList](t, b.as("alice", "GET", "/v1/events?vjob=1", ""), 200)
	first := strconv.FormatInt(all.Events[0].Seq, 10)
	req.Header.Set("Last-Event-ID", first)
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // it is, a line below
	b.must(err)
	defer res.Body.Close()
	var ids []string
	beats := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids = append(ids, id)
		}
		if lines.Text() == ": alive" {
			if beats++; beats == 20 {
				break
			}
		}
	}
	if beats < 20 {
		t.Errorf("the stream ends after %d signs of life", beats)
	}
	if len(ids) != len(all.Events)-1 || slices.Contains(ids, first) {
		t.Errorf("after event %s come %v of %+v", first, ids, all.Events)
	}
	// A stream ends when its token is revoked.
	tokens, err := b.scheduler.Tokens(t.Context(), "alice")
	b.must(err)
	b.must(b.scheduler.RevokeToken(t.Context(), "alice", tokens[0].ID, journal.Audit{}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		}
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the stream of a revoked token goes on")
	}
}

// TestSlowReader: one that takes nothing is cut off; the others do not notice.
func TestSlowReader(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Limits.WriteTime = 200 * time.Millisecond })
	b.populate()
	_, address := b.serve()
	text := strings.Repeat("x", 60<<10)
	for range 20 {
		batch := make([]journal.Event, 20)
		for i := range batch {
			batch[i] = journal.Event{Kind: journal.EventAlarm, VJob: 1, Text: text}
		}
		b.writeEvents(batch...)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	b.must(err)
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + b.tokens["alice"] + "\r\n\r\n"))
	b.must(err)
	began := time.Now()
	for {
		text := b.as("root", "GET", "/metrics", "").Body.String()
		if strings.Contains(text, `vjob_http_requests_total{code="200",method="GET",route="/v1/events"} 1`) {
			return // the handler has ended
		}
		if time.Since(began) > 15*time.Second {
			t.Fatal("the stream of a reader that takes nothing goes on")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestLimits(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.Limits = api.Limits{PerSecond: 1e-9, Burst: 3, UnauthenticatedPerSecond: 1e-9, Streams: 1}
	})
	b.populate()
	for i := range 5 {
		want := 200
		if i >= 3 {
			want = 429
		}
		if res := b.as("alice", "GET", "/v1/whoami", ""); res.Code != want || want == 429 && res.Header().Get("Retry-After") == "" {
			t.Errorf("request %d: %d", i, res.Code)
		}
	}
	if res := b.as("bob", "GET", "/v1/whoami", ""); res.Code != 200 {
		t.Errorf("bob pays for alice: %d", res.Code)
	}
	codes := map[int]int{}
	for range 30 {
		codes[b.as("", "GET", "/v1/whoami", "", "Authorization", "Bearer x").Code]++
	}
	if codes[401] != 20 || codes[429] != 10 {
		t.Errorf("guesses: %v", codes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, address := b.serve()
	open := func(ctx context.Context) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/events", nil)
		b.must(err)
		req.Header.Set("Authorization", "Bearer "+b.tokens["root"])
		req.Header.Set("Accept", "text/event-stream")
		res, err := http.DefaultClient.Do(req)
		b.must(err)
		t.Cleanup(func() { res.Body.Close() })
		return res.StatusCode
	}
	if first, second := open(ctx), open(ctx); first != 200 || second != 503 {
		t.Errorf("two streams where there is room for one: %d, %d", first, second)
	}
	heavy, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/healthz", nil)
	b.must(err)
	heavy.Header.Set("X-Big", strings.Repeat("x", 64<<10))
	res, err := http.DefaultClient.Do(heavy)
	b.must(err)
	res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a header of 64 KiB: %d", res.StatusCode)
	}
}

func TestListen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:80", "example.org:80", "unix://relative", "no port"} {
		_, err := api.Listen(t.Context(), address, nil)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != "listen" {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := api.Listen(t.Context(), "0.0.0.0:0", nil); err == nil || !strings.Contains(err.Error(), "listen.certificate") {
		t.Errorf("the refusal does not say what to set: %v", err)
	}
	if _, err := api.Listen(t.Context(), "unix://"+file, nil); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("a file in the way: %v", err)
	}
}

func TestSocketIsTaken(t *testing.T) {
	b := newFixture(t)
	socket, _ := b.serve()
	if _, err := api.Listen(t.Context(), socket, nil); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("two daemons on one socket: %v", err)
	}
}

func TestTLS(t *testing.T) {
	b := newFixture(t)
	certificate, file := selfSigned(t)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10} //nolint:gosec // to see it raised
	listener, err := api.Listen(t.Context(), "127.0.0.1:0", config)
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Serve(ctx, listener) }()
	c, err := client.New(client.Settings{Server: "https://" + listener.Addr().String(), Token: b.tokens["bob"], CAFile: file})
	b.must(err)
	if caller, err := c.Whoami(t.Context()); err != nil || caller.Name != "bob" {
		t.Errorf("got %+v, %v", caller, err)
	}
	c.Close()
	old := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, MinVersion: tls.VersionTLS10} //nolint:gosec // to be refused
	if conn, err := (&tls.Dialer{Config: old}).DialContext(ctx, "tcp", listener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.2 is accepted")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "vjobd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
