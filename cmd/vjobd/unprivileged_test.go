package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/daemon/output/writer"
)

// asProgram makes the test binary be the program.
const asProgram = "VJOBD_AS_PROGRAM"

func TestMain(m *testing.M) {
	writer.Main()
	if os.Getenv(asProgram) != "" {
		os.Args[0] = "vjobd"
		main()
	}
	os.Exit(m.Run())
}

// The daemon runs as a user of its own, in the directories that systemd makes for it. Root is
// an administrator there.
func TestAsUserOfItsOwn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: becoming another user takes root")
	}
	const uid = 54321
	run, err := os.MkdirTemp("/run", "vjobd-test-*") //nolint:usetesting // the place counts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	state, program := filepath.Join(run, "state"), filepath.Join(run, "vjobd")
	err = errors.Join(os.Mkdir(state, 0o700), os.Chown(state, uid, uid), duplicate(t, program), os.Chown(run, uid, uid), os.Chmod(run, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env, cmd.Dir = []string{asProgram + "=1", "STATE_DIRECTORY=" + state, "RUNTIME_DIRECTORY=" + run}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	c, err := client.New(client.Settings{Server: "unix://" + filepath.Join(run, "vjobd.sock"), Retries: 10, Backoff: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	who, err := c.Whoami(t.Context())
	if err != nil || who != (wire.Identity{Name: "root", Role: "admin", Via: "socket"}) {
		t.Errorf("root is %+v, %v", who, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v:\n%s", err, said.String())
	}
	if _, err := os.Stat(filepath.Join(state, "vjob.db")); err != nil {
		t.Error(err)
	}
}

// duplicate copies the test binary to where every user may run it.
func duplicate(t *testing.T, path string) error {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.CommandContext(t.Context(), "install", "-m", "0755", own, path).Run()
}

// unit reads a unit file: its keys with their values.
func unit(t *testing.T, path string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys, section := map[string][]string{}, ""
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "", line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" || strings.ContainsAny(key, " \t") {
				t.Fatalf("%s:%d: %q is no setting of a section", path, i+1, line)
			}
			keys[section+"."+key] = append(keys[section+"."+key], value)
		}
	}
	return keys
}

// The unit of the examples starts this program as a user without rights.
func TestUnit(t *testing.T) {
	keys := unit(t, "../../examples/vjobd.service")
	for key, want := range map[string]string{
		"Service.User": "vjob", "Service.Group": "vjob", "Service.StateDirectory": "vjob", "Service.RuntimeDirectory": "vjob",
		"Service.StateDirectoryMode": "0700", "Service.NoNewPrivileges": "yes", "Service.CapabilityBoundingSet": "",
		"Service.ProtectSystem": "strict", "Service.ProtectHome": "yes", "Service.RestrictSUIDSGID": "yes",
		"Service.PrivateUsers":         "no", // else every local user is uid 65534
		"Service.SystemCallFilter":     "@system-service",
		"Install.WantedBy":             "multi-user.target",
		"Service.RuntimeDirectoryMode": "0755",
	} {
		if got := keys[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	start := keys["Service.ExecStart"]
	if len(start) != 1 {
		t.Fatalf("ExecStart is %q", start)
	}
	root := (&command{}).root()
	words := strings.Fields(start[0])
	if filepath.Base(words[0]) != "vjobd" {
		t.Errorf("it starts %s", words[0])
	}
	if err := root.ParseFlags(words[1:]); err != nil {
		t.Errorf("%s: %v", start[0], err)
	}
}
