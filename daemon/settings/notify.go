package settings

import (
	"net"
	"net/mail"
	"net/netip"
	"os"
	"strings"

	"vjob/cluster"
	"vjob/internal/pattern"
)

// Notify are the settings of notifications, see docs/reference/notifications.md.
type Notify struct {
	Mail     Mail     `json:"mail"`
	Webhooks Webhooks `json:"webhooks"`
}

// Mail is the SMTP server.
type Mail struct {
	Server       string   `json:"server"` // host:port; "": no mails
	From         string   `json:"from"`
	Domains      []string `json:"domains"`  // of allowed recipients; empty: that of From
	PerHour      int      `json:"per_hour"` // of the vjobs of one user; 0 is no limit
	User         string   `json:"user"`
	PasswordFile string   `json:"password_file"`
	Security     string   `json:"security"` // starttls, tls, none
}

// Webhooks are the allowed web hooks.
type Webhooks struct {
	Hosts      []string `json:"hosts"`
	Ports      []int    `json:"ports"`
	PerHour    int      `json:"per_hour"` // for the vjobs of one user; 0 is no limit
	Networks   []string `json:"networks"`
	SecretFile string   `json:"secret_file"`
}

// Allowed returns the networks that web hooks may reach besides public ones.
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

// maxPerHour is the highest rate of messages.
const (
	maxPerHour  = 1_000_000
	wantPerHour = "from 1 to 1000000, or 0 for no limit"
)

var hostPattern = pattern.New(`^(\*|(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)$`)

func (n *Notify) validate() error {
	m, w := &n.Mail, &n.Webhooks
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
		return cluster.Fault("notify.mail.user", "user and password_file go together")
	}
	if err := checkRecipients(m, w); err != nil {
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

// checkRecipients checks the allowed recipients and the rates.
func checkRecipients(m *Mail, w *Webhooks) error {
	for i, domain := range m.Domains {
		if !hostPattern().MatchString(domain) {
			return cluster.BadField(indexed("notify.mail.domains", i), domain, "example.org, *.example.org, or *")
		}
	}
	for i, host := range w.Hosts {
		if !hostPattern().MatchString(host) {
			return cluster.BadField(indexed("notify.webhooks.hosts", i), host, "hooks.example.org, *.example.org, or *")
		}
	}
	for i, port := range w.Ports {
		if port < 1 || port > 65535 {
			return cluster.BadField(indexed("notify.webhooks.ports", i), port, "a port from 1 to 65535")
		}
	}
	if len(w.Hosts) > 0 && len(w.Ports) == 0 {
		return cluster.BadField("notify.webhooks.ports", "[]", "the ports that may be called, such as [80, 443], or no hosts")
	}
	if m.PerHour < 0 || m.PerHour > maxPerHour {
		return cluster.BadField("notify.mail.per_hour", m.PerHour, wantPerHour)
	}
	if w.PerHour < 0 || w.PerHour > maxPerHour {
		return cluster.BadField("notify.webhooks.per_hour", w.PerHour, wantPerHour)
	}
	_, err := w.Allowed()
	return err
}
