package daemon_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"vjob/cluster"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// A password file of mode 0666 is refused, as for power drivers.
func TestPasswordFileOfAll(t *testing.T) {
	for field, change := range map[string]func(s *settings.Settings, file string){
		"notify.mail.password_file": func(s *settings.Settings, file string) {
			s.Notify.Mail.Server, s.Notify.Mail.From, s.Notify.Mail.User, s.Notify.Mail.PasswordFile = "mail.example:587", "vjob@example.org", "vjob", file
		},
		"notify.webhooks.secret_file": func(s *settings.Settings, file string) {
			s.Notify.Webhooks.Hosts, s.Notify.Webhooks.SecretFile = []string{"hooks.example"}, file
		},
	} {
		file := filepath.Join(t.TempDir(), "password")
		if err := errors.Join(os.WriteFile(file, []byte("geheim\n"), 0o600), os.Chmod(file, 0o666)); err != nil {
			t.Fatal(err)
		}
		d, err := daemon.Open(t.Context(), small(t, func(s *settings.Settings) { change(s, file) }), slog.New(slog.DiscardHandler))
		if err == nil {
			_ = d.Close()
		}
		if bad, ok := errors.AsType[*cluster.FieldError](err); !ok || bad.Field != field {
			t.Errorf("%s of mode 0666: %v", field, err)
		}
	}
}
