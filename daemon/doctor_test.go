package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
)

// level returns the level of a check's worst finding, and its texts.
func level(d *wire.Doctor, check string) (worst, text string) {
	order := map[string]int{"": 0, "green": 1, "yellow": 2, "red": 3}
	for _, f := range d.Findings {
		if f.Check == check {
			text += f.Text + "; "
			if order[f.Level] > order[worst] {
				worst = f.Level
			}
		}
	}
	return worst, text
}

// The facts of a running daemon: what is well, and after changes what is not.
func TestDoctor(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := edit(t, func(s *settings.Settings) {
		s.Notify.Webhooks.Hosts, s.Notify.Webhooks.SecretFile = []string{"example.org"}, secret
		s.Notify.Mail.Server, s.Notify.Mail.From = "127.0.0.1:1", "a@example.org"
	})
	until(t, e.Client, submit(t, e.Client, "a", 1, 0, 1e6), "running", inState(cluster.Running))
	d, err := e.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for check, want := range map[string]string{"store": "green", "settings": "green", "clock": "green", "nodes": "green", "files": "green", "backup": "green", "mail": "yellow", "alarms": "green"} {
		if got, text := level(&d, check); check != "files" && got != want { // the settings have no file here
			t.Errorf("%s is %s, want %s: %s", check, got, want, text)
		}
	}
	if _, text := level(&d, "disk"); !strings.Contains(text, "database: ") || !strings.Contains(text, e.file.State) {
		t.Errorf("disk: %s", text)
	}
	if d.Version == "" || d.At.IsZero() {
		t.Errorf("version %q at %s", d.Version, d.At)
	}

	e.mu.Lock()
	e.file.Limits.Attempts, e.file.Listen.Mode = 1, "0600"
	e.mu.Unlock()
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	if d, err = e.Doctor(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, text := level(&d, "settings"); got != "yellow" || !strings.Contains(text, "not in effect: 2") {
		t.Errorf("settings that wait for a reload are %s: %s", got, text)
	}
	if got, text := level(&d, "files"); got != "red" || d.Level != "red" || !strings.Contains(text, secret) {
		t.Errorf("a secret that all may read is %s: %s", got, text)
	}
	copied, _, err := e.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if d, err = e.Doctor(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, text := level(&d, "backup"); got != "green" || !strings.Contains(text, "the last back-up is of") {
		t.Errorf("the back-up is %s: %s", got, text)
	}
}
