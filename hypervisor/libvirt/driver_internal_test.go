//go:build libvirt_dlopen && cgo

package libvirt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A driver has the hosts of its settings, and room for more operations with each of them.
func TestNew(t *testing.T) {
	b := newBuiltin(t)
	one := newBuiltin(t, func(c *Config) { c.Hosts = c.Hosts[:1] })
	for _, node := range []cluster.NodeID{"h1", "h2"} {
		if view, err := b.Look(t.Context(), node); err != nil || view.Node != node {
			t.Errorf("%s: %v, %v", node, view.Node, err)
		}
	}
	if got := b.files.limit - one.files.limit; got != fileOpsPerNode || one.files.limit <= minFileOps {
		t.Errorf("%d operations for one host, %d more for two", one.files.limit, got)
	}
	image := hypervisor.ImageID{VM: cluster.VMID{VJob: 7}, Generation: 1, Attempt: 1}
	write(t, b.store.path("h2", image), saveFile(magicComplete))
	store, err := b.LookStore(t.Context())
	if err != nil || len(store.Images) != 1 || store.Images[0].ID != image {
		t.Errorf("the store: %+v, %v", store, err)
	}
}

// The folders of consoles and seeds are made, where they are in the settings.
func TestNewMakesFolders(t *testing.T) {
	root := t.TempDir()
	cfg := validConfig()
	cfg.Hosts = []Host{{Node: "h1", URI: builtinURI}}
	cfg.Images = cfg.Images[:1] // no disks, so no seeds
	cfg.ImageDir, cfg.Installation = filepath.Join(root, "images"), "this"
	if err := os.Mkdir(cfg.ImageDir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "file"), nil)
	for _, c := range []struct {
		console, seed string
		fails         bool
	}{
		{"consoles", "", false},
		{"c/onsoles", "s/eeds", false},
		{"file/consoles", "seeds", true},
		{"consoles", "file/seeds", true},
	} {
		cfg.ConsoleDir, cfg.SeedDir = filepath.Join(root, c.console), ""
		if c.seed != "" {
			cfg.SeedDir = filepath.Join(root, c.seed)
		}
		d, err := New(cfg, slog.New(slog.DiscardHandler))
		if errors.Is(err, cluster.ErrUnavailable) {
			t.Skip("no libvirt here: ", err)
		}
		if (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), "directory of consoles or seeds: ") {
			t.Errorf("%+v: %v", c, err)
		}
		if err != nil {
			continue
		}
		for _, dir := range []string{c.console, c.seed} {
			if info, err := os.Stat(filepath.Join(root, dir)); err != nil || !info.IsDir() {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is wrong with the settings is said before anything is opened.
func TestNewRefusesSettings(t *testing.T) {
	cfg := validConfig()
	cfg.ImageDir, cfg.ConsoleDir, cfg.SeedDir, cfg.Installation = t.TempDir(), t.TempDir(), t.TempDir(), "this"
	cfg.CPUModel = "host-passthrough"
	var wrong *cluster.FieldError
	if _, err := New(cfg, slog.New(slog.DiscardHandler)); !errors.As(err, &wrong) || wrong.Field != "cpu_model" {
		t.Errorf("a setting that is wrong: %v", err)
	}
}

// Without libvirt.so.0 the driver cannot be opened, and says so.
func TestNewWithoutLibvirt(t *testing.T) {
	const without = "VJOB_TEST_WITHOUT_LIBVIRT"
	if os.Getenv(without) != "" {
		cfg := validConfig()
		cfg.ImageDir, cfg.ConsoleDir, cfg.SeedDir, cfg.Installation = t.TempDir(), t.TempDir(), t.TempDir(), "this"
		_, err := New(cfg, slog.New(slog.DiscardHandler))
		fmt.Println(errors.Is(err, cluster.ErrUnavailable), err)
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "libvirt.so.0"), nil) // no library
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNewWithoutLibvirt$")
	cmd.Env = append(os.Environ(), without+"=1", "LD_LIBRARY_PATH="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "true libvirt: ") {
		t.Errorf("%s, %v", out, err)
	}
}

// A folder of the store that does not count is logged, with its node.
func TestNewLogsUnusableFolders(t *testing.T) {
	b := newBuiltin(t)
	complaints := func() (list []string) {
		var said bytes.Buffer
		d, err := New(b.cfg, slog.New(slog.NewTextHandler(&said, nil)))
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, "no image can be saved") {
				list = append(list, line)
			}
		}
		return list
	}
	if got := complaints(); got != nil {
		t.Errorf("of a store that is well it says %q", got)
	}
	if err := os.RemoveAll(b.store.nodeDir("h2")); err != nil {
		t.Fatal(err)
	}
	if got := complaints(); len(got) != 1 || !strings.Contains(got[0], "level=ERROR ") || !strings.Contains(got[0], "node=h2 ") {
		t.Errorf("of one without the folder of h2 it says %q", got)
	}
}

// Close ends what goes on, once, and tells of calls that do not end.
func TestClose(t *testing.T) {
	b := newBuiltin(t, func(c *Config) { c.Timeouts.CloseSeconds = 1 })
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	hangs := make(chan struct{})
	b.running.Go(func() { <-hangs })
	if err := b.Close(); !errors.Is(err, hypervisor.ErrTimeout) || !strings.Contains(err.Error(), "after 1s") {
		t.Errorf("while a call is in progress: %v", err)
	}
	for _, verb := range []hypervisor.Verb{hypervisor.Pause, hypervisor.Save} {
		if err := b.do(verb, vm); !errors.Is(err, errClosed) {
			t.Errorf("%s after that: %v", verb, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	loop.mu.Lock()
	ended := loop.done
	loop.mu.Unlock()
	select {
	case <-ended:
		t.Error("the loop has ended before its last user")
	default:
	}
	close(hangs)
	<-ended
}

// The error of a look says when a daemon is connected and does not answer.
func TestUnanswered(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, hypervisor.ErrTimeout: true, errQueued: true, errLost: false, hypervisor.ErrUnreachable: false,
	} {
		if got := unanswered(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
	d := &Driver{nodes: map[cluster.NodeID]*node{}}
	d.nodes["h1"] = newNode(Host{Node: "h1", URI: builtinURI}, d)
	d.nodes["h1"].listPool = newConnPool(builtinURI, 0, Timeouts{}, &d.running)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.Look(ended, "h1")
	if !errors.Is(err, errQueued) || !strings.Contains(err.Error(), "look at h1: libvirtd is connected and does not answer") {
		t.Errorf("a look behind others: %v", err)
	}
}

// A console is what a VM has printed; a VM that has printed nothing has no console.
func TestConsole(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	path := b.cfg.consolePath(vm)
	console := func() (string, error) {
		r, err := b.Console(t.Context(), vm)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		return string(text), errors.Join(err, r.Close())
	}
	if _, err := console(); !errors.Is(err, cluster.ErrNotFound) || !strings.Contains(err.Error(), "console of VM 7.0") {
		t.Errorf("of a VM that has not run: %v", err)
	}
	for _, text := range []string{"", "x", "one\ntwo\n"} {
		write(t, path, []byte(text))
		got, err := console()
		if got != text || text == "" && !errors.Is(err, cluster.ErrNotFound) || text != "" && err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if err := errors.Join(os.Remove(path), os.Symlink(path, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := console(); err == nil || errors.Is(err, cluster.ErrNotFound) || !strings.Contains(err.Error(), "console of VM 7.0") {
		t.Errorf("one that cannot be opened: %v", err)
	}
}
