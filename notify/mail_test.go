package notify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vjob/notify"
)

// certificate is one for 127.0.0.1, and what trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// Mails reach servers that want TLS and a password, and neither a password nor a mail is
// ever said in the clear to one that does not protect it.
func TestSecurity(t *testing.T) {
	server, trusts := certificate(t)
	starttls := func(b *letterbox) { b.secrets, b.login = server, "vjob:s3cret" }
	implicit := func(b *letterbox) { starttls(b); b.secret = true }
	for _, tt := range []struct {
		name  string
		box   func(*letterbox)
		mail  notify.Mail
		fails string // "": the mail arrives
	}{
		{"STARTTLS", starttls, notify.Mail{Security: notify.StartTLS, User: "vjob", Password: "s3cret", Roots: trusts}, ""},
		{"TLS", implicit, notify.Mail{Security: notify.TLS, User: "vjob", Password: "s3cret", Roots: trusts}, ""},
		{"STARTTLS without a password", func(b *letterbox) { b.secrets = server }, notify.Mail{Security: notify.StartTLS, Roots: trusts}, ""},
		{"a wrong password", starttls, notify.Mail{Security: notify.StartTLS, User: "vjob", Password: "guess", Roots: trusts}, "535"},
		{"no password where one is wanted", implicit, notify.Mail{Security: notify.TLS, Roots: trusts}, "530"},
		{"a server without STARTTLS", func(b *letterbox) { b.login = "vjob:s3cret" }, notify.Mail{Security: notify.StartTLS, User: "vjob", Password: "s3cret", Roots: trusts}, "mail server"},
		{"an untrusted certificate", starttls, notify.Mail{Security: notify.StartTLS, User: "vjob", Password: "s3cret"}, "certificate"},
		{"an untrusted certificate, implicit TLS", implicit, notify.Mail{Security: notify.TLS, User: "vjob", Password: "s3cret"}, "certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			box := newLetterbox(t, tt.box)
			m := tt.mail
			m.Server, m.From = box.listener.Addr().String(), "vjob@example.org"
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := m.Carry(ctx, notify.Address{Mail: "ann@example.org"}, &notify.Message{Seq: 7, VJob: 12, Host: "frontal"})
			switch {
			case tt.fails == "" && err != nil:
				t.Fatal(err)
			case tt.fails == "":
				if text := <-box.mails; !strings.Contains(text, "To: ann@example.org\r\n") {
					t.Errorf("%q", text)
				}
			case err == nil || !strings.Contains(err.Error(), tt.fails):
				t.Errorf("%v, want %q", err, tt.fails)
			case len(box.mails) > 0:
				t.Error("a mail was taken all the same")
			}
			box.mu.Lock()
			defer box.mu.Unlock()
			for _, line := range box.clear {
				if verb := strings.Fields(line + " x")[0]; verb != "EHLO" && verb != "STARTTLS" && verb != "QUIT" && verb != "*" {
					t.Errorf("said in the clear: %q", line)
				}
			}
		})
	}
}

// A mail to a domain that is not allowed is refused before the server is asked: settings
// may have changed since the vjob was submitted.
func TestMailDomains(t *testing.T) {
	for _, tt := range []struct {
		domains []string
		to      string
		taken   bool
	}{
		{nil, "ann@example.org", true},
		{nil, "ann@evil.com", false},
		{[]string{"a.org", "*.b.org"}, "ann@x.b.org", true},
		{[]string{"a.org", "*.b.org"}, "ann@example.org", false},
		{[]string{"*"}, "ann@evil.com", true},
	} {
		box := newLetterbox(t)
		m := notify.Mail{Server: box.listener.Addr().String(), From: "vjob@example.org", Domains: tt.domains, Security: notify.Plain}
		err := m.Carry(t.Context(), notify.Address{Mail: tt.to}, &notify.Message{Seq: 7, VJob: 12, Host: "frontal"})
		if (err == nil) != tt.taken || errors.Is(err, notify.ErrRefused) == tt.taken || (len(box.mails) == 1) != tt.taken {
			t.Errorf("%v: to %s: %v, %d mails", tt.domains, tt.to, err, len(box.mails))
		}
	}
}
