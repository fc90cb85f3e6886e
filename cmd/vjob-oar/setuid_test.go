package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asProgram makes the test binary run the program.
const asProgram = "VJOB_OAR_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Args = []string{"vjob-oar", "sub", "-S", os.Getenv(asProgram)}
		main()
	}
	os.Exit(m.Run())
}

// A setuid copy that root owns must not read root's files for another user.
func TestSetuidCopy(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: a setuid copy takes root")
	}
	dir := t.TempDir()
	secret, program := filepath.Join(dir, "secret"), filepath.Join(dir, "vjob-oar")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.WriteFile(secret, []byte("geheim\n"), 0o600), duplicate(t, program)); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o755 | os.ModeSetuid, 0o755 | os.ModeSetgid} {
		if err := os.Chmod(program, mode); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = []string{asProgram + "=" + secret}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
		said, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(said), "vjob-oar: runs as") {
			t.Errorf("mode %s: %v, said %q", mode, err, said)
		}
	}
}

// duplicate copies the test binary to a path that every user may run.
func duplicate(t *testing.T, path string) error {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.CommandContext(t.Context(), "install", "-m", "0755", own, path).Run()
}
