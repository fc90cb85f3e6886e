package db_test

import (
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"vjob/db"
)

// The id of an installation is created once. It is readable while a daemon runs, after a
// restart and in a backup.
func TestInstallation(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "vjob.db"), filepath.Join(dir, "copy.db")
	first := must[string](t)(db.InstallationOf(t.Context(), path))
	if id, err := uuid.Parse(first); err != nil || id.Version() != 4 || id.Variant() != uuid.RFC4122 {
		t.Errorf("%q is no random UUID: %v", first, err)
	}
	d := must[*db.DB](t)(db.Open(path))
	if err := d.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]string{
		"after a restart":      must[string](t)(d.Installation(t.Context())),
		"while a daemon runs":  must[string](t)(db.InstallationOf(t.Context(), path)),
		"in a back-up":         must[string](t)(db.InstallationOf(t.Context(), copied)),
		"in a back-up, opened": openedInstallation(t, copied),
	} {
		if id != first {
			t.Errorf("%s: %s, was %s", what, id, first)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if other := must[string](t)(db.InstallationOf(t.Context(), filepath.Join(dir, "other.db"))); other == first {
		t.Error("two installations have one id")
	}
}

// An installation of an older vjob gets its id with the migration.
func TestInstallationOfAnOlderSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	old(t, path, 2)
	if id := must[string](t)(db.InstallationOf(t.Context(), path)); id == "" || id != openedInstallation(t, path) {
		t.Errorf("id %q", id)
	}
}

func openedInstallation(t *testing.T, path string) string {
	t.Helper()
	d := must[*db.DB](t)(db.Open(path))
	id := must[string](t)(d.Installation(t.Context()))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}
