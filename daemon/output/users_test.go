package output_test

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/output"
	"vjob/daemon/output/writer"
)

func TestMain(m *testing.M) {
	writer.Main()
	os.Exit(m.Run())
}

// accounts are those of a site: ann is local, the others are not.
func accounts(_ context.Context, name string) (journal.User, error) {
	uid := uint32(999_999)
	switch name {
	case "ann":
		return journal.User{Name: name, Local: true, UID: &uid}, nil
	case "new":
		return journal.User{Name: name, Local: true}, nil
	case "remote":
		return journal.User{Name: name}, nil
	}
	return journal.User{}, fmt.Errorf("account %s: %w", name, cluster.ErrNotFound)
}

// Owners without a user on the machine are refused with the reason and the way out.
func TestOwnersAreLocalUsers(t *testing.T) {
	u := &output.Users{Account: accounts}
	for owner, want := range map[string]string{
		"remote":  "the account remote has no local user on the machine of the daemon that could own the files: use vjob logs, or have an administrator link them: vjob accounts change remote --local",
		"new":     "the user id of new is unknown until new has submitted once over the unix socket",
		"ann":     "uid 999999 of the account ann has no user of that name on the machine of the daemon",
		"unknown": "unknown has no account here",
	} {
		if _, err := u.Find(t.Context(), owner); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", owner, err, want)
		}
	}
	own, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	p, err := u.Find(t.Context(), own.Username)
	if err != nil || int(p.UID) != os.Geteuid() || len(p.Groups) == 0 {
		t.Errorf("the user of the daemon: %+v, %v", p, err)
	}
}

// Folders are made where others cannot interfere.
func TestFoldersAreMade(t *testing.T) {
	own, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	for mode, want := range map[os.FileMode]string{0o755: "", 0o777: "is not made since others may write to the directory above"} {
		base := t.TempDir()
		if err := os.Chmod(base, mode); err != nil {
			t.Fatal(err)
		}
		u := &output.Users{Directory: base, Account: accounts}
		f, err := u.Open(t.Context(), own.Username)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v", mode, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Append("a/run.out", 0, nil); err != nil {
			t.Error(err)
		}
		f.Close()
		if info, err := os.Stat(filepath.Join(base, own.Username)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
	}
}
