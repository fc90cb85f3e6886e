package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/energy/power/driver"
	"vjob/notify"
)

// notificationsFile is the file in the state directory with the notifications to deliver.
const notificationsFile = "notifications.json"

// openPoster returns a poster that delivers notifications by some settings.
func (d *Daemon) openPoster(s *settings.Settings) (*notify.Poster, error) {
	n := &s.Notify
	c := notify.PosterSettings{
		Source: d.store, Rates: notify.Rates{Mails: n.Mail.PerHour, Calls: n.Webhooks.PerHour},
		File: filepath.Join(s.State, notificationsFile), Log: d.log, Now: time.Now,
		Report: func(ctx context.Context, e journal.Event) error {
			return d.commits.Commit(ctx, journal.Step{Events: []journal.Event{e}})
		},
	}
	var err error
	if c.Host, err = os.Hostname(); err != nil {
		return nil, fmt.Errorf("notifications: %w", err)
	}
	mail, hook, err := transports(s)
	if err != nil {
		return nil, err
	}
	if mail != nil {
		c.Mail = mail
	}
	if hook != nil {
		c.Hook = hook
	}
	return notify.NewPoster(c), nil
}

// transports returns the ways of delivery that the settings enable; the others are nil.
func transports(s *settings.Settings) (mail *notify.Mail, hook *notify.Hook, err error) {
	if s.Notify.Mail.Server != "" {
		mail = mailOf(s)
		if mail.Password, err = password("notify.mail.password_file", s.Notify.Mail.PasswordFile); err != nil {
			return nil, nil, err
		}
	}
	if w := &s.Notify.Webhooks; len(w.Hosts) > 0 {
		h := hookOf(s)
		if h.Networks, err = w.Allowed(); err != nil {
			return nil, nil, err
		}
		key, err := password("notify.webhooks.secret_file", w.SecretFile)
		if err != nil {
			return nil, nil, err
		}
		h.Secret = []byte(key)
		hook = notify.NewHook(h)
	}
	return mail, hook, nil
}

// mailOf returns the mail transport of the settings, without the password.
func mailOf(s *settings.Settings) *notify.Mail {
	m := &s.Notify.Mail
	return &notify.Mail{Server: m.Server, From: m.From, Domains: m.Domains, User: m.User, Security: notify.Security(m.Security)}
}

// hookOf returns the settings of web hooks, without the networks and the secret.
func hookOf(s *settings.Settings) notify.Hook {
	w := &s.Notify.Webhooks
	return notify.Hook{Hosts: w.Hosts, Ports: w.Ports, Now: time.Now}
}

// password reads the password file of a setting; without a file the password is empty.
func password(field, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := driver.ReadPassword(file)
	if err != nil {
		return "", cluster.BadField(field, file, "a file with one line that others cannot read: "+err.Error())
	}
	return text, nil
}

// notifiable returns the check of addresses to notify. Without a mail server no mail address passes.
func notifiable(s *settings.Settings) func(notify.Address) error {
	mail, hook := mailOf(s), hookOf(s)
	return func(a notify.Address) error {
		switch {
		case a.URL != nil:
			return hook.Check("notify", a.URL)
		case mail.Server == "":
			return cluster.Fault("notify", "mail to %s cannot be sent, the daemon has no mail server: leave it out, or have an administrator set notify.mail.server", a.Mail)
		}
		return mail.Check("notify", a)
	}
}
