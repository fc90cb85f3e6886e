package settings

import (
	"net"
	"net/mail"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"vjob/cluster"
)

// Notify says how users are told of their vjobs; docs/notifications.md tells what.
type Notify struct {
	Mail     Mail     `json:"mail"`
	Webhooks Webhooks `json:"webhooks"`
}

// Mail is the server that takes mails.
type Mail struct {
	Server       string `json:"server"` // host:port; "" is none
	From         string `json:"from"`
	User         string `json:"user"`
	PasswordFile string `json:"password_file"`
	Security     string `json:"security"` // starttls, tls, none
}

// Webhooks are the web addresses that may be called.
type Webhooks struct {
	Hosts      []string `json:"hosts"`
	Networks   []string `json:"networks"`
	SecretFile string   `json:"secret_file"`
}

// Allowed are the networks that may be reached besides public ones.
func (w *Webhooks) Allowed() (list []netip.Prefix, err error) {
	for i, text := range w.Networks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, cluster.BadField(indexed("notify.webhooks.networks", i), text, "a network such as 10.1.0.0/16")
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

var hostPattern = regexp.MustCompile(`^(\*|(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)$`)

func (s *Settings) validateNotify() error {
	m, w := &s.Notify.Mail, &s.Notify.Webhooks
	if err := (choice{"notify.mail.security", m.Security, "none starttls tls"}).check(); err != nil {
		return err
	}
	if m.Server != "" {
		if host, port, err := net.SplitHostPort(m.Server); err != nil || host == "" || port == "" {
			return cluster.BadField("notify.mail.server", m.Server, "host:port, such as mail.example.org:25")
		}
		if a, err := mail.ParseAddress(m.From); err != nil || a.Address != m.From {
			return cluster.BadField("notify.mail.from", m.From, "the address from which mails come, such as vjob@example.org")
		}
	}
	if (m.User == "") != (m.PasswordFile == "") {
		return cluster.BadField("notify.mail.user", m.User, "both a user and a password_file, or none")
	}
	for i, host := range w.Hosts {
		if !hostPattern.MatchString(host) {
			return cluster.BadField(indexed("notify.webhooks.hosts", i), host, "hooks.example.org, *.example.org, or *")
		}
	}
	if _, err := w.Allowed(); err != nil {
		return err
	}
	for field, file := range map[string]string{"notify.mail.password_file": m.PasswordFile, "notify.webhooks.secret_file": w.SecretFile} {
		if file == "" {
			continue
		}
		if data, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(data)) == "" {
			return cluster.BadField(field, file, "a file with a secret that can be read")
		}
	}
	return nil
}
