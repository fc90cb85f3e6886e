package daemon_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// editable is a daemon with settings that a test edits.
type editable struct {
	*client.Client
	t       *testing.T
	mu      sync.Mutex
	file    settings.Settings
	wrong   error
	signals chan os.Signal
}

// edit starts a daemon with small settings.
func edit(t *testing.T, change func(*settings.Settings)) *editable {
	t.Helper()
	e := &editable{t: t, file: small(t, change), signals: make(chan os.Signal)}
	d, err := daemon.Open(t.Context(), e.file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d.Source = &daemon.Source{Name: "vjobd.yaml", Signals: e.signals, Read: func() (settings.Settings, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.file, e.wrong
	}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	if e.Client, err = client.New(client.Settings{Server: "unix://" + e.file.Listen.Socket}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// reload edits the file and reloads it.
func (e *editable) reload(check bool, change func(*settings.Settings)) (wire.Reload, error) {
	e.mu.Lock()
	change(&e.file)
	e.mu.Unlock()
	return e.Reload(e.t.Context(), wire.ReloadOrder{Check: check})
}

// lines writes changes.
func lines(r *wire.Reload) string {
	var list []string
	for _, c := range r.Changes {
		list = append(list, c.Kind+" "+c.Setting+" "+c.Effect)
	}
	return strings.Join(list, ", ")
}

// What can change is applied at once; what cannot stays and is named, at each reload until the daemon is started again.
func TestReload(t *testing.T) {
	e := edit(t, nil)
	ctx := t.Context()
	job := submit(t, e.Client, "a", 1, 0, 1e6)
	until(t, e.Client, job, "running", inState(cluster.Running))
	change := func(s *settings.Settings) {
		s.Nodes = append([]settings.Node{}, s.Nodes...)
		s.Nodes[0].Name = "n[1-3]"
		s.Images = append(slices.Clip(s.Images), settings.Image{ID: "second", Kind: "simulated"})
		s.Limits.VMsPerVJob = 2
		s.Listen.Mode = "0600"
	}
	const want = "added images.second live, changed limits.vms_per_vjob live, changed listen.mode restart, added nodes.n3 live"
	checked, err := e.reload(true, change)
	if err != nil || checked.Applied || checked.Restart != 1 || lines(&checked) != want {
		t.Fatalf("checked: %s, %+v, %v", lines(&checked), checked, err)
	}
	if nodes, err := e.Nodes(ctx); err != nil || len(nodes.Nodes) != 2 {
		t.Errorf("a check gave %d nodes, %v", len(nodes.Nodes), err)
	}
	done, err := e.reload(false, func(*settings.Settings) {})
	if err != nil || !done.Applied || lines(&done) != want {
		t.Fatalf("applied: %s, %v", lines(&done), err)
	}
	if nodes, err := e.Nodes(ctx); err != nil || len(nodes.Nodes) != 3 {
		t.Errorf("%d nodes, %v", len(nodes.Nodes), err)
	}
	if images, err := e.Images(ctx); err != nil || len(images.Images) != 2 {
		t.Errorf("images %+v, %v", images, err)
	}
	_, _, err = e.Submit(ctx, wire.Submission{Name: "b", Count: 3, Template: &wire.VMSpec{CPUMilli: 100, MemoryMiB: 64}}, "")
	if !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("three VMs, and the limit is 2: %v", err)
	}
	if again, err := e.reload(false, func(*settings.Settings) {}); err != nil || lines(&again) != "changed listen.mode restart" {
		t.Errorf("once more: %s, %v", lines(&again), err)
	}
	until(t, e.Client, job, "running", inState(cluster.Running))
	list, err := e.Audit(ctx, client.AuditQuery{Action: "reload"})
	if err != nil || len(list.Entries) != 2 || !strings.Contains(list.Entries[1].Text, "limits.vms_per_vjob: 1000 → 2") || !strings.Contains(list.Entries[1].Text, "listen.mode: 0666 → 0600 (after a restart)") {
		t.Errorf("the audit list has %+v, %v", list, err)
	}
}

// Wrong settings change nothing, nor does a node that is removed while vjobs hold it.
func TestReloadThatIsRefused(t *testing.T) {
	e := edit(t, nil)
	ctx := t.Context()
	job := submit(t, e.Client, "a", 4, 0, 1e6)
	until(t, e.Client, job, "running", inState(cluster.Running))
	e.wrong = cluster.BadField("policy.name", "fastest", "another")
	if _, err := e.reload(false, func(*settings.Settings) {}); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "policy.name") {
		t.Errorf("wrong settings: %v", err)
	}
	e.wrong = nil
	for _, check := range []bool{true, false} {
		_, err := e.reload(check, func(s *settings.Settings) {
			s.Nodes = []settings.Node{{Name: "n1", CPU: s.Nodes[0].CPU, Memory: s.Nodes[0].Memory}}
			s.Limits.VMsPerVJob = 7
		})
		if !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), "n2 cannot be removed: it holds a part of vjob 1") {
			t.Errorf("check %t: a node that holds a VM: %v", check, err)
		}
	}
	if nodes, err := e.Nodes(ctx); err != nil || len(nodes.Nodes) != 2 {
		t.Errorf("%d nodes, %v", len(nodes.Nodes), err)
	}
	if _, _, err := e.Submit(ctx, wire.Submission{Name: "b", Count: 8, Hold: true, Template: &wire.VMSpec{CPUMilli: 100, MemoryMiB: 64}}, ""); err != nil {
		t.Errorf("eight VMs, and the limit is as before: %v", err)
	}
	// In a combination with what stays as it was, settings can be wrong that are right by themselves.
	_, err := e.reload(false, func(s *settings.Settings) {
		*s = small(t, nil)
		s.Driver, s.Images[0].Kind, s.Images[0].Kernel = "libvirt", "kernel", "/boot/vmlinuz"
	})
	if !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), "restart") {
		t.Errorf("images of another driver: %v", err)
	}
}

// A signal reloads, and a daemon without a file says what to do.
func TestReloadBySignal(t *testing.T) {
	e := edit(t, nil)
	e.mu.Lock()
	e.file.Limits.VMsPerVJob = 1
	e.mu.Unlock()
	e.signals <- os.Interrupt // any
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, _, err := e.Submit(t.Context(), wire.Submission{Count: 2, Hold: true, Template: &wire.VMSpec{CPUMilli: 100, MemoryMiB: 64}}, "")
		if errors.Is(err, cluster.ErrInvalid) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("two VMs, and the limit is 1: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	c, _ := start(t, small(t, nil))
	if _, err := c.Reload(t.Context(), wire.ReloadOrder{}); !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), "--settings FILE") {
		t.Errorf("without a file: %v", err)
	}
}

// The level of the log changes, and its format stays.
func TestReloadChangesTheLevelOfTheLog(t *testing.T) {
	log := daemon.NewLogger(io.Discard, settings.Log{Format: "text", Level: "warn"})
	derived := log.With(slog.Int("a", 1))
	if log.Enabled(t.Context(), slog.LevelInfo) {
		t.Error("info is logged")
	}
	s := small(t, nil)
	d, err := daemon.Open(t.Context(), s, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	daemon.SetLevel(log, "debug")
	if !log.Enabled(t.Context(), slog.LevelDebug) || !derived.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("debug is not logged")
	}
}
