package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/notify"
	"vjob/notify/post"
	"vjob/settings"
)

// lettersFile is what of notifications must not be forgotten, in the state directory.
const lettersFile = "notifications.json"

// openPoster makes what delivers notifications.
func (d *Daemon) openPoster() (*post.Poster, error) {
	c := post.Config{Source: d.store, File: filepath.Join(d.settings.State, lettersFile), Log: d.log, Now: time.Now}
	var err error
	if c.Host, err = os.Hostname(); err != nil {
		return nil, fmt.Errorf("notifications: %w", err)
	}
	mail, hook, err := carriers(&d.settings)
	if err != nil {
		return nil, err
	}
	if mail != nil {
		c.Mail = mail
	}
	if hook != nil {
		c.Hook = hook
	}
	return post.New(c), nil
}

// carriers are those that the settings offer; nil is none.
func carriers(s *settings.Settings) (mail *post.Mail, hook *post.Hook, err error) {
	if m := &s.Notify.Mail; m.Server != "" {
		mail = &post.Mail{Server: m.Server, From: m.From, User: m.User, Security: post.Security(m.Security)}
		if mail.Password, err = secret(m.PasswordFile); err != nil {
			return nil, nil, err
		}
	}
	if w := &s.Notify.Webhooks; len(w.Hosts) > 0 {
		networks, err := w.Allowed()
		if err != nil {
			return nil, nil, err
		}
		key, err := secret(w.SecretFile)
		if err != nil {
			return nil, nil, err
		}
		hook = post.NewHook(post.Hook{Hosts: w.Hosts, Networks: networks, Secret: []byte(key), Now: time.Now})
	}
	return mail, hook, nil
}

// secret is the text of a file without blanks around it; "" is no file.
func secret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("notifications: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// notifiable says why nobody can be told at an address. Mails are always taken: a site
// that sends none today may do so tomorrow.
func notifiable(s *settings.Settings) func(notify.Address) error {
	hosts := post.Hook{Hosts: s.Notify.Webhooks.Hosts}
	return func(a notify.Address) error {
		if a.URL != nil && !hosts.Allowed(a.URL.Hostname()) {
			return cluster.BadField("notify", a.URL.Host, "a host that this site allows to be called, or a mail address")
		}
		return nil
	}
}
