package apifuzz_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vjob/daemon/settings"
	"vjob/tests/pace"
)

// TestTransports makes some of the requests over the unix socket and over TLS, with what net/http
// makes of them on both sides.
func TestTransports(t *testing.T) {
	t.Logf("seed %d", *seed)
	w := newWorld(t, func(s *settings.Settings) {
		s.Listen.Address = "127.0.0.1:0"
		s.Listen.Certificate, s.Listen.Key = selfSigned(t)
	})
	w.crowded = true // all come from one address
	g := &generator{seed: *seed, ops: operations(w.doc), callers: w.callers, extra: 100}
	y := newTally()
	for name, transport := range map[string]*http.Transport{
		"unix": {DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", w.settings.Listen.Socket)
		}},
		"TLS": {TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}, //nolint:gosec // it is ours
	} {
		client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		made := 0
		for n := range uint64(1500 / pace.Slower) {
			q := g.request(n)
			if name == "unix" && q.caller.token == "" {
				continue // the kernel says that it is the daemon's own user
			}
			if a := w.send(client, name, q); a != nil {
				y.add(q, a, w.judge(q, a))
				made++
			}
		}
		transport.CloseIdleConnections()
		t.Logf("%s: %d requests", name, made)
		if made < 1000/pace.Slower {
			t.Errorf("%s: only %d requests were answered", name, made)
		}
	}
	y.report(t)
}

// send makes a request over a connection; nil: it cannot be sent, or has no answer in time.
func (w *world) send(client *http.Client, name string, q *request) *answer {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r := q.http().WithContext(ctx)
	r.RequestURI, r.RemoteAddr, r.URL.Scheme, r.URL.Host = "", "", "http", "vjob"
	if name == "TLS" {
		r.URL.Scheme, r.URL.Host = "https", w.address
	}
	res, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	a := &answer{status: res.StatusCode, header: res.Header}
	if res.StatusCode == http.StatusSwitchingProtocols || res.Header.Get("Content-Type") == "text/event-stream" {
		return a
	}
	a.body, err = io.ReadAll(res.Body)
	if err != nil {
		return nil
	}
	return a
}

// selfSigned makes a certificate and its key, as files.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	certificate, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return certificate, key
}

// lines are requests as bytes, right and wrong ones.
var lines = []string{
	"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /healthz HTTP/1.0\r\n\r\n", "GET  /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n", "\r\n\r\n", "\x16\x03\x01\x02\x00",
	"POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}", "POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
	"POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}", "POST /v1/vjobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\nContent-Length: 2\r\n\r\n{}",
	"GET http://evil/healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\nA\x00: y\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", "GET /v1/events HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
}

// TestBytes writes what is hardly HTTP to the socket: it is answered as a mistake of the
// caller, or the connection ends.
func TestBytes(t *testing.T) {
	w := newWorld(t)
	r := mathrand.New(mathrand.NewPCG(*seed, 0))
	t.Logf("seed %d", *seed)
	for n := range 1000 / pace.Slower {
		text := []byte(pick(r, lines))
		for range r.IntN(3) {
			switch i := r.IntN(len(text)); r.IntN(3) {
			case 0:
				text[i] = byte(r.IntN(256))
			case 1:
				text = append(text[:i:i], append([]byte(pick(r, texts)), text[i:]...)...)
			default:
				text = append(text, text[i:]...)
			}
		}
		switch status := w.write(t, text); status {
		case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported: // net/http says what it does not know
		case http.StatusServiceUnavailable: // the half of the connection that is closed ends the request
		default:
			if status >= 500 {
				t.Errorf("%d: %q: status %d", n, text, status)
			}
		}
	}
	if a := w.ask(w.root, "GET", "/healthz", ""); a.status != http.StatusOK {
		t.Errorf("the daemon is not well: %d %s", a.status, a.body)
	}
	if said := w.faults.take(); len(said) > 0 {
		t.Errorf("the daemon logs %q", said)
	}
}

// write sends bytes and closes its half; the status is 0 if there is no answer.
func (w *world) write(t *testing.T, text []byte) int {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", w.settings.Listen.Socket)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.Copy(conn, bytes.NewReader(text))
	if half, ok := conn.(*net.UnixConn); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil {
		return 0 // it was closed before all was read
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
