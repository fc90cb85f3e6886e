package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/daemon/settings"
)

// vjobd runs a command line with a home of its own.
func vjobd(ctx context.Context, t *testing.T, home string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	getenv := func(key string) string {
		if key == "HOME" {
			return home
		}
		return ""
	}
	args = append([]string{"--state", filepath.Join(home, "state"), "--socket", filepath.Join(home, "s")}, args...)
	code = run(ctx, &o, &e, getenv, args)
	return code, o.String(), e.String()
}

func TestCommands(t *testing.T) {
	home := t.TempDir()
	bad := filepath.Join(home, "bad.yaml")
	if err := os.WriteFile(bad, []byte("polciy: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"settings"}, exitOK, "transfers_per_node"},
		{[]string{"--print-settings"}, exitOK, "state: " + filepath.Join(home, "state")},
		{[]string{"--check-settings"}, exitOK, "the settings are right: 8 nodes, driver simulated, policy firstfit"},
		{[]string{"--check-settings", "-c", bad}, exitInput, "bad.yaml:1:1: polciy: unknown key: want probably policy"},
		{[]string{"-c", "/none"}, exitInput, "no such file"},
		{[]string{"--nope"}, exitInput, "unknown flag"},
		{[]string{"start"}, exitInput, `argument "start": want none`},
		{[]string{"token", "create", "ada", "--role", "king"}, exitInput, "--role"},
		{[]string{"token", "create", "ada", "--expires", "soon"}, exitInput, "--expires"},
		{[]string{"token", "create", "a b"}, exitInput, "name"},
	}
	for _, tt := range tests {
		code, out, errs := vjobd(t.Context(), t, home, tt.args...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("vjobd %v: exit %d, want %d: %s%s\nwant %s", tt.args, code, tt.code, out, errs, tt.want)
		}
	}
}

// What is printed can be read again as a settings file.
func TestPrintedSettings(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{{"settings"}, {"--print-settings"}} {
		_, out, _ := vjobd(t.Context(), t, home, args...)
		path := filepath.Join(home, "printed.yaml")
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := settings.Read(path, func(string) string { return home }); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A token can be made before there is a daemon and while one runs; the daemon
// stops when it is asked to, with success.
func TestToken(t *testing.T) {
	home := t.TempDir()
	create := func(name string) string {
		code, out, errs := vjobd(t.Context(), t, home, "token", "create", name, "--role", "admin", "--expires", "1d")
		if code != exitOK || !strings.HasPrefix(out, "vjob_") {
			t.Fatalf("exit %d: %s%s", code, out, errs)
		}
		return out
	}
	first := create("ada")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		code, _, errs := vjobd(ctx, t, home)
		if code != exitOK {
			t.Error(errs)
		}
		done <- code
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		// The file is there before it can be connected to.
		if conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(home, "s")); err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the daemon does not listen")
		}
	}
	if second := create("bob"); second == first {
		t.Error("the same secret twice")
	}
	cancel()
	<-done
}
