package api_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api"
)

// certificatePair is a certificate with a serial number, and its key, PEM.
func certificatePair(t *testing.T, serial int64) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// servedSerial is the serial number of the certificate that a server shows.
func servedSerial(t *testing.T, l net.Listener) int64 {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the certificate itself is looked at
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// A certificate is renewed in place, also file by file, and a broken one is not taken.
func TestCertificateIsReadAgain(t *testing.T) {
	b := newFixture(t)
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	put := func(path string, text []byte) {
		t.Helper()
		b.must(os.WriteFile(path+".new", text, 0o600))
		b.must(os.Rename(path+".new", path))
	}
	var logged bytes.Buffer
	now := epoch
	certificate, key := certificatePair(t, 1)
	put(file, certificate)
	put(keyFile, key)
	kept, err := api.OpenCertificate(file, keyFile, func() time.Time { return now }, slog.New(slog.NewTextHandler(&logged, nil)))
	b.must(err)
	listener, err := api.Listen(t.Context(), "127.0.0.1:0", &tls.Config{GetCertificate: kept.Get, MinVersion: tls.VersionTLS13})
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
	second, secondKey := certificatePair(t, 2)
	for _, step := range []struct {
		what      string
		do        func()
		want      int64
		complains bool
	}{
		{"the first pair", func() {}, 1, false},
		{"a certificate without its key", func() { put(file, second) }, 1, true},
		{"the same again, without a second complaint", func() {}, 1, false},
		{"the key as well", func() { put(keyFile, secondKey) }, 2, false},
		{"a broken certificate", func() { put(file, []byte("x")) }, 2, true},
		{"no file", func() { b.must(os.Remove(file)) }, 2, true},
		{"the old file again", func() { put(file, second) }, 2, false},
	} {
		now = now.Add(time.Second)
		logged.Reset()
		step.do()
		if got := servedSerial(t, listener); got != step.want {
			t.Errorf("%s: certificate %d is shown, want %d", step.what, got, step.want)
		}
		if complains := strings.Contains(logged.String(), "level=ERROR"); complains != step.complains {
			t.Errorf("%s: the log has %q", step.what, logged.String())
		}
	}
	if _, err := api.OpenCertificate(keyFile, file, time.Now, slog.Default()); err == nil || !strings.Contains(err.Error(), keyFile) {
		t.Errorf("a broken pair: %v", err)
	}
}
