package daemon_test

import (
	"errors"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
)

// Without a mail server a mail address is refused at the submission, with the field and the fix; web addresses are
// judged by themselves.
func TestMailsWithoutAServer(t *testing.T) {
	c, _ := start(t, small(t, func(s *settings.Settings) {
		s.Notify.Webhooks.Hosts, s.Notify.Mail.Domains = []string{"*.example.org"}, []string{"example.org"}
	}))
	for address, want := range map[string]string{
		"https://a.example.org/":      "",
		"mail:ann@example.org":        `notify[0]: mail to ann@example.org cannot be sent, the daemon has no mail server: leave it out, or have an administrator set notify.mail.server`,
		"[END]mail:ann@other.example": `notify[0]: mail to ann@other.example cannot be sent`,
	} {
		_, _, err := c.Submit(t.Context(), wire.Submission{
			Count: 1, Hold: true, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 256}, Terms: wire.Terms{Terms: cluster.Terms{Notify: []string{address}}},
		}, "")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", address, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, cluster.ErrInvalid)):
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// A submission with an address that this site does not notify is refused; the error has the
// field, the address and the addresses that are allowed.
func TestAddressesRefused(t *testing.T) {
	c, _ := start(t, small(t, func(s *settings.Settings) {
		s.Notify.Mail.Server, s.Notify.Mail.From = "127.0.0.1:1", "vjob@example.org"
		s.Notify.Webhooks.Hosts = []string{"*.example.org"}
	}))
	for address, want := range map[string]string{
		"mail:ann@example.org":          "",
		"mail:ann@EXAMPLE.ORG":          "",
		"[END]mail:ann@evil.com":        `notify[1]: "ann@evil.com" is not an address in example.org: this site sends mails nowhere else`,
		"mail:ann@example.org.evil.com": `an address in example.org`,
		"mail:ann@x.example.org":        `an address in example.org`,
		"https://a.example.org/":        "",
		"https://a.example.org:25/":     `notify[1]: "a.example.org:25" is not one of the ports 80, 443, 8080, 8443, which this site allows to be called`,
		"https://evil.com/":             `a host that this site allows to be called`,
	} {
		_, _, err := c.Submit(t.Context(), wire.Submission{
			Count: 1, Hold: true, Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 256},
			Terms: wire.Terms{Terms: cluster.Terms{Notify: []string{"mail:bob@example.org", address}}},
		}, "")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", address, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
