package api_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
)

// A peer with all of its connections in use is refused another until one is closed.
func TestConnectionsOfOnePeer(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Limits.PerPeer = 2 })
	b.populate()
	_, address := b.serve()
	stream := b.request("bob", "GET", "/v1/events", "Accept: text/event-stream\r\n")
	held := b.attack(address, 2, stream)
	if codes := held.answers(t); codes[200] != 2 {
		t.Fatalf("two streams: %v", codes)
	}
	// Nothing is sent on the third: it is refused before that.
	refused := b.attack(address, 1, "")[0]
	b.must(refused.SetReadDeadline(time.Now().Add(10 * time.Second)))
	res, err := http.ReadResponse(bufio.NewReader(refused), nil)
	b.must(err)
	defer res.Body.Close()
	var body wire.Error
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != 503 ||
		res.Header.Get("Retry-After") == "" || body.Error.Code != wire.CodeUnavailable {
		t.Errorf("a third connection: %d %+v, %v", res.StatusCode, body, err)
	}
	_ = held[0].Close()
	for range 500 { // the server notices the end of a stream by itself
		if codes := b.attack(address, 1, b.request("alice", "GET", "/v1/whoami", "")).answers(t); codes[200] == 1 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("no connection is taken after one was closed")
}

// A stream over HTTP/2 outlives the times that requests and answers have.
func TestStreamsOverHTTP2(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.HeartbeatEvery = 20 * time.Millisecond
		c.Limits.BodyTime, c.Limits.WriteTime = 500*time.Millisecond, time.Second // 50 beats; a busy machine may be late by some
	})
	certificate, _ := selfSigned(t)
	listener, err := api.Listen(t.Context(), "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it is ours
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+listener.Addr().String()+"/v1/events", nil)
	b.must(err)
	req.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
	req.Header.Set("Accept", "text/event-stream")
	res, err := transport.RoundTrip(req)
	b.must(err)
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Fatalf("the answer came over %s", res.Proto)
	}
	beats := 0
	for lines := bufio.NewScanner(res.Body); beats < 75 && lines.Scan(); {
		if lines.Text() == ": alive" {
			beats++
		}
	}
	if beats < 75 {
		t.Errorf("the stream ends after %d signs of life", beats)
	}
}

// The document of the API is compressed if that is accepted.
func TestDocumentIsCompressed(t *testing.T) {
	b := newFixture(t)
	plain := b.as("", "GET", "/v1/openapi.json", "").Body.String()
	packed := b.as("", "GET", "/v1/openapi.json", "", "Accept-Encoding", "gzip, br")
	if packed.Header().Get("Content-Encoding") != "gzip" || 4*packed.Body.Len() > len(plain) {
		t.Errorf("%d bytes of %d, header %v", packed.Body.Len(), len(plain), packed.Header())
	}
	reader, err := gzip.NewReader(packed.Body)
	b.must(err)
	var text strings.Builder
	if _, err := bufio.NewReader(reader).WriteTo(&text); err != nil || text.String() != plain {
		t.Errorf("it is another document, %v", err)
	}
}
