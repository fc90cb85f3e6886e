//go:build libvirt_dlopen

package endtoend

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/tests/lab"
)

// builtDir is the directory of the vjobd that these tests have built; "" before.
var builtDir string

// built is the vjobd of this run: the one that the environment variable VJOBD names, or else it
// is built.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("VJOBD"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "vjobd-")
	if err != nil {
		return "", err
	}
	builtDir = dir
	path := filepath.Join(dir, "vjobd")
	out, err := exec.Command("go", "build", "-tags", "libvirt_dlopen", "-o", path, "vjob/cmd/vjobd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build vjobd: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(killLanes)); err != nil { // they mostly wait
		panic(err)
	}
	code := m.Run()
	if builtDir != "" {
		_ = os.RemoveAll(builtDir) // best effort: it lies among temporary files
	}
	os.Exit(code)
}

// vjobd is the daemon: its files and, while it runs, its process.
type vjobd struct {
	t      testing.TB
	binary string
	dir    string
	client *client.Client

	log    *os.File // of the present process
	cmd    *exec.Cmd
	exited chan struct{}
}

// nodeMiB is what vjobs may use of each host.
const nodeMiB = 128

// labSettings are the settings of a daemon that drives the lab.
func labSettings(l *lab.Lab, dir string) (settings.Settings, error) {
	s, err := settings.Default(os.Getenv)
	if err != nil {
		return s, err
	}
	c := l.Config()
	s.State, s.Listen.Socket = filepath.Join(dir, "state"), filepath.Join(dir, "sock")
	s.Driver = "libvirt"
	s.Policy.Parameters["needs"] = "reserved" // so that tests know what fits
	s.Balance.When = "never"                  // so that VMs stay where tests expect them
	s.Timing.Tick.Duration, s.Timing.Backoff.Duration = time.Second, time.Second
	s.Timing.Rest.Duration = 100 * time.Millisecond
	s.Limits.ImageMargin.MiB = 1
	s.Limits.StopGrace.Duration = 5 * time.Second
	s.Limits.Slack = 40 // guests are emulated on a machine that is busy with other things
	s.Libvirt = settings.Libvirt{
		SaveMiBps: s.Libvirt.SaveMiBps, RestoreMiBps: s.Libvirt.RestoreMiBps,
		Cluster: "vjob", ImageDir: c.ImageDir, ConsoleDir: c.ConsoleDir, SeedDir: c.SeedDir,
		DomainType: "qemu", MachineType: "pc-i440fx-7.2", CPUModel: "qemu64", Emulator: "/usr/bin/qemu-system-x86_64",
		TranslationCache: settings.Size{MiB: c.TranslationCacheMiB}, UnsafeMigration: c.UnsafeMigration,
	}
	if c.Lease != nil {
		s.Libvirt.Lease = settings.Lease{Lockspace: c.Lease.Lockspace, Path: c.Lease.Path}
	}
	s.Nodes, s.Images = nil, nil
	for _, h := range c.Hosts {
		s.Nodes = append(s.Nodes, settings.Node{
			Name: string(h.Node), CPU: settings.CPU{MilliCPU: 16 * cluster.CPU}, Memory: settings.Size{MiB: nodeMiB},
			URI: h.URI, PeerURI: h.PeerURI, MigrateURI: h.MigrateURI,
		})
	}
	for _, i := range c.Images {
		s.Images = append(s.Images, settings.Image{
			ID: i.ID, Kind: string(i.Kind), Description: i.Description, Default: i.ID == lab.GuestImage,
			Kernel: i.Kernel, Disk: i.Disk, Format: i.Format,
		})
	}
	return s, nil
}

// newDaemon builds the daemon and its settings; nothing runs yet. What runs when
// the test ends is ended.
func newDaemon(tb testing.TB, l *lab.Lab) *vjobd {
	tb.Helper()
	binary, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "vjobd-") //nolint:usetesting // short, as the path of a socket has to be
	if err != nil {
		tb.Fatal(err)
	}
	d := &vjobd{t: tb, binary: binary, dir: dir}
	d.configure(l, nil)
	out, err := exec.CommandContext(tb.Context(), binary, "--settings", filepath.Join(dir, "settings.yaml"), "init-store", "--adopt").CombinedOutput()
	if err != nil {
		tb.Fatalf("init-store: %v: %s", err, out)
	}
	if d.client, err = client.New(client.Settings{Server: "unix://" + filepath.Join(dir, "sock")}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		d.kill()
		d.client.Close()
		_ = os.RemoveAll(dir)
	})
	return d
}

// configure writes the settings file, with a change if that is not nil.
func (d *vjobd) configure(l *lab.Lab, change func(*settings.Settings)) {
	d.t.Helper()
	s, err := labSettings(l, d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	if change != nil {
		change(&s)
	}
	text, err := s.YAML()
	if err == nil {
		err = os.WriteFile(filepath.Join(d.dir, "settings.yaml"), text, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// start starts a process and waits until it answers, or is dead already.
func (d *vjobd) start(env ...string) {
	d.t.Helper()
	var err error
	if d.log, err = os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.cmd = exec.CommandContext(context.Background(), d.binary, "--settings", filepath.Join(d.dir, "settings.yaml"))
	d.cmd.Env = append(os.Environ(), env...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	exited := make(chan struct{})
	d.exited = exited
	go func() {
		_ = d.cmd.Wait() // tests look at the state of the process
		close(exited)
	}()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		health, err := d.client.Health(ctx)
		cancel()
		if err == nil && health.Ready || d.dead() {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("vjobd is not ready within %s: %+v, %v\n%s", patience, health, err, d.tail())
		}
	}
}

func (d *vjobd) dead() bool {
	select {
	case <-d.exited:
		return true
	default:
		return false
	}
}

// kill ends the process as kill -9 does. None is fine.
func (d *vjobd) kill() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGKILL)
	<-d.exited
	_ = d.log.Close()
	d.cmd = nil
}

// stop asks the process to end and demands that it ends well.
func (d *vjobd) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Error(err)
	}
	select {
	case <-d.exited:
	case <-time.After(patience):
		d.t.Errorf("vjobd does not stop\n%s", d.tail())
		d.kill()
		return
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Errorf("vjobd stopped with exit code %d\n%s", code, d.tail())
	}
	_ = d.log.Close()
	d.cmd = nil
}

// logged is what the present process, or the last one, has logged.
func (d *vjobd) logged() []byte {
	text, err := os.ReadFile(filepath.Join(d.dir, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Error(err)
	}
	return text
}

// tail is the end of the log, for failed tests.
func (d *vjobd) tail() []byte {
	lines := bytes.SplitAfter(d.logged(), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-60):], nil)
}

var pointLine = regexp.MustCompile(`msg="crash point" number=\d+ point="?([a-z ]+)`)

// points are the crash points that the process has passed, in order. It logs them
// when it was started with VJOB_DIE_AT.
func (d *vjobd) points() []string {
	var list []string
	for _, m := range pointLine.FindAllSubmatch(d.logged(), -1) {
		list = append(list, string(m[1]))
	}
	return list
}
