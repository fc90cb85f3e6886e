package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon"
	"vjob/daemon/settings"
	"vjob/db"
	"vjob/queue"
)

// small returns settings with two nodes of 2 CPU and almost instant actions.
func small(tb testing.TB, change func(*settings.Settings)) settings.Settings {
	tb.Helper()
	dir := tb.TempDir()
	s, err := settings.Default(func(string) string { return dir })
	if err != nil {
		tb.Fatal(err)
	}
	s.State, s.Listen.Socket = filepath.Join(dir, "state"), filepath.Join(dir, "s")
	s.Nodes = []settings.Node{{Name: "n[1-2]", CPU: settings.CPU{MilliCPU: 2000}, Memory: settings.Size{MiB: 2048}}}
	s.Simulated.Speed = 500
	s.Timing.Tick.Duration, s.Timing.Rest.Duration = 200*time.Millisecond, 10*time.Millisecond
	if change != nil {
		change(&s)
	}
	return s
}

// start runs a daemon until the test ends or stop is called.
func start(tb testing.TB, s settings.Settings) (c *client.Client, stop func()) {
	tb.Helper()
	d, err := daemon.Open(tb.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("stop: %v", err)
		}
	}
	tb.Cleanup(stop)
	c, err = client.New(client.Settings{Server: "unix://" + s.Listen.Socket})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c, stop
}

// until waits until a vjob satisfies a condition.
func until(tb testing.TB, c *client.Client, id int64, what string, ok func(*wire.VJobDetail) bool) wire.VJobDetail {
	tb.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		job, err := c.VJob(tb.Context(), id)
		if err != nil {
			tb.Fatal(err)
		}
		if ok(&job) {
			return job
		}
		if time.Now().After(deadline) {
			tb.Fatalf("vjob %d is %s (%s), want %s", id, job.State, job.Reason, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func inState(state cluster.State) func(*wire.VJobDetail) bool {
	return func(j *wire.VJobDetail) bool { return j.State == state.String() }
}

func submit(tb testing.TB, c *client.Client, name string, vms, priority int, length float64) int64 {
	tb.Helper()
	job, created, err := c.Submit(tb.Context(), wire.Submission{
		Name: name, Priority: priority, Count: vms,
		Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 256, Steps: []wire.Step{{CPUMilli: 1000, Seconds: length}}},
	}, "")
	if err != nil || !created {
		tb.Fatalf("submit %s: %v, created %t", name, err, created)
	}
	return job.ID
}

// A vjob is suspended as a whole for one of higher priority, is resumed, and terminates.
func TestOverload(t *testing.T) {
	c, _ := start(t, small(t, nil))
	low := submit(t, c, "low", 4, 0, 600)
	until(t, c, low, "running", inState(cluster.Running))
	high := submit(t, c, "high", 4, 5, 600)
	until(t, c, low, "suspended", inState(cluster.Suspended))
	until(t, c, high, "its end", inState(cluster.Terminated))
	job := until(t, c, low, "its end", inState(cluster.Terminated))
	if job.Generation < 1 || job.CPUSeconds <= 0 {
		t.Errorf("suspended %d times, %f CPU seconds", job.Generation, job.CPUSeconds)
	}
	plans, err := c.Plans(t.Context(), 10)
	if err != nil || len(plans.Plans) < 3 {
		t.Errorf("%d plans, %v", len(plans.Plans), err)
	}
}

// A restarted daemon continues where it stopped.
func TestRestart(t *testing.T) {
	s := small(t, nil)
	c, stop := start(t, s)
	running := submit(t, c, "running", 2, 0, 1e6)
	waiting := submit(t, c, "waiting", 4, -1, 1e6)
	until(t, c, running, "running", inState(cluster.Running))
	stop()

	c, _ = start(t, s)
	job := until(t, c, running, "running", inState(cluster.Running))
	if job.Generation != 0 {
		t.Errorf("vjob %d was suspended %d times", running, job.Generation)
	}
	until(t, c, waiting, "a place in the queue", func(j *wire.VJobDetail) bool { return j.QueuePlace == 1 })
	if _, err := c.Delete(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	until(t, c, running, "its end", inState(cluster.Terminated))
	until(t, c, waiting, "running", inState(cluster.Running))
}

func TestOneDaemonPerState(t *testing.T) {
	s := small(t, nil)
	start(t, s)
	other := s
	other.Listen.Socket += "2"
	if d, err := daemon.Open(t.Context(), other, slog.New(slog.DiscardHandler)); err == nil {
		t.Errorf("a second daemon opened the same state directory")
		_ = d.Close()
	} else if !strings.Contains(err.Error(), "another vjobd uses it") {
		t.Error(err)
	}
}

func TestInvalidSettings(t *testing.T) {
	tests := []struct {
		name   string
		change func(*settings.Settings)
		want   string
	}{
		{"needs of fcfs", func(s *settings.Settings) {
			s.Policy = settings.Policy{Name: "fcfs", Parameters: queue.Values{"needs": "observed"}}
		}, "policy.needs"},
		{"no host", func(s *settings.Settings) { s.Nodes = nil }, "nodes"},
		{"libvirt without a directory", func(s *settings.Settings) {
			s.Driver = "libvirt"
			s.Nodes = []settings.Node{{Name: "a", CPU: s.Nodes[0].CPU, Memory: s.Nodes[0].Memory, URI: "qemu:///system"}}
			s.Images = []settings.Image{{ID: "k", Kind: "kernel", Kernel: "/k"}}
		}, "libvirt.image_dir"},
		{"libvirt with a bad image", func(s *settings.Settings) {
			s.Driver, s.Libvirt.ImageDir, s.Libvirt.ConsoleDir = "libvirt", "/i", "/c"
			s.Nodes = []settings.Node{{Name: "a", CPU: s.Nodes[0].CPU, Memory: s.Nodes[0].Memory, URI: "qemu:///system"}}
			s.Images = []settings.Image{{ID: "k", Kind: "kernel", Kernel: "relative"}}
		}, "images[0].kernel"},
		{"invalid certificate", func(s *settings.Settings) {
			s.Listen.Address, s.Listen.Certificate, s.Listen.Key = "127.0.0.1:0", "daemon_test.go", "daemon_test.go"
		}, "listen.certificate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := daemon.Open(t.Context(), small(t, tt.change), slog.New(slog.DiscardHandler))
			var field *cluster.FieldError
			if !errors.As(err, &field) || field.Field != tt.want {
				t.Errorf("%v, want the field %s", err, tt.want)
			}
		})
	}
}

// The daemon deletes a node that the settings no longer name if the node is empty, and
// refuses to start otherwise.
func TestRemovedNode(t *testing.T) {
	s := small(t, nil)
	c, stop := start(t, s)
	id := submit(t, c, "both", 4, 0, 1e6)
	until(t, c, id, "running", inState(cluster.Running))
	stop()
	less := s
	less.Nodes = []settings.Node{{Name: "n1", CPU: s.Nodes[0].CPU, Memory: s.Nodes[0].Memory}}
	if _, err := daemon.Open(t.Context(), less, slog.New(slog.DiscardHandler)); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("started without n2: %v", err)
	}
	c, stop = start(t, s)
	if _, err := c.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	until(t, c, id, "its end", inState(cluster.Terminated))
	stop()
	less.Simulated.StateFile = ""
	c, _ = start(t, less)
	list, err := c.Nodes(t.Context()) // the loop has loaded the nodes before the first answer
	if err != nil || len(list.Nodes) != 1 {
		t.Errorf("%d nodes, %v", len(list.Nodes), err)
	}
}

func TestTCPNeedsAToken(t *testing.T) {
	s := small(t, func(s *settings.Settings) { s.Listen.Address = "127.0.0.1:0" })
	d, err := daemon.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + d.Addresses()[1].String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	anonymous, err := client.New(client.Settings{Server: address, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anonymous.Nodes(t.Context()); !errors.Is(err, cluster.ErrUnauthenticated) {
		t.Errorf("without a token: %v", err)
	}
}

func TestCreateToken(t *testing.T) {
	store, err := db.Open(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	act := journal.Audit{At: time.Now(), From: "test"}
	secret, err := daemon.CreateToken(t.Context(), store, journal.NewToken{User: "ada"}, journal.RoleAdmin, act)
	if err != nil || !strings.HasPrefix(secret, "vjob_") {
		t.Fatalf("%q, %v", secret, err)
	}
	if _, err := daemon.CreateToken(t.Context(), store, journal.NewToken{User: "ada"}, journal.RoleUser, act); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("another role: %v", err)
	}
}
