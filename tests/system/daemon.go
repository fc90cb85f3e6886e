package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemon is a vjobd process with a state of its own.
type daemon struct {
	*client
	dir     string
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	failure error         // of the ended process
	program string
}

// cluster is the simulated cluster of a daemon.
type cluster struct {
	nodes     int
	cpu       int
	memoryGiB int
	speed     int // of simulated time
}

const settingsText = `state: %[1]s/state
listen:
  socket: %[1]s/vjobd.sock
log:
  level: warn
simulated:
  speed: %[5]d
nodes:
  - name: n[1-%[2]d]
    cpu: %[3]d
    memory: %[4]dGiB
limits:
  vjobs_per_user: 0
  vms_per_user: 0
  requests_per_second: 0
  requests: 8192
  requests_per_caller: 8192
  streams: 8192
  streams_per_caller: 8192
  forecasts: 64
  forecasts_per_caller: 64
  connections: 16384
  connections_per_peer: 16384
`

// start starts a daemon on a new cluster and waits until it is ready. It returns how long that took.
func (r *run) start(ctx context.Context, c cluster) (*daemon, time.Duration, error) {
	dir, err := os.MkdirTemp(r.folder, "")
	if err != nil {
		return nil, 0, err
	}
	text := fmt.Sprintf(settingsText, dir, c.nodes, c.cpu, c.memoryGiB, c.speed)
	if err := os.WriteFile(filepath.Join(dir, "settings.yaml"), []byte(text), 0o600); err != nil {
		return nil, 0, err
	}
	d := &daemon{client: newClient(filepath.Join(dir, "vjobd.sock")), dir: dir, program: r.program}
	took, err := d.begin(ctx)
	return d, took, err
}

// begin starts the process and waits until it is ready: it answers, and has seen all nodes. It asks every 5 ms at first and
// then less and less, so that the questions cost the daemon little.
func (d *daemon) begin(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	d.process = exec.CommandContext(context.WithoutCancel(ctx), d.program, "--settings", filepath.Join(d.dir, "settings.yaml"))
	d.process.Stdout, d.process.Stderr = log, log
	if err := d.process.Start(); err != nil {
		return 0, err
	}
	d.ended = make(chan struct{})
	go func() {
		defer close(d.ended)
		d.failure = d.process.Wait()
	}()
	for ctx.Err() == nil {
		if d.ready(ctx) {
			return time.Since(began), nil
		}
		select {
		case <-d.ended:
			return 0, fmt.Errorf("the daemon ended (%w): %s", d.failure, d.lastLog())
		case <-time.After(max(5*time.Millisecond, min(time.Since(began)/20, 100*time.Millisecond))):
		}
	}
	return 0, ctx.Err()
}

// lastLog returns the end of the daemon's log.
func (d *daemon) lastLog() string {
	text, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	return string(text[max(0, len(text)-500):])
}

// stop ends the process and deletes its state.
func (d *daemon) stop() {
	d.end()
	_ = os.RemoveAll(d.dir)
}

// end ends the process as an administrator would.
func (d *daemon) end() {
	d.closeIdle()
	_ = d.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
	case <-time.After(2 * time.Minute):
		_ = d.process.Process.Kill()
		<-d.ended
	}
}

// restart ends the process and starts it again on the same state.
func (d *daemon) restart(ctx context.Context) (took time.Duration, err error) {
	d.end()
	return d.begin(ctx)
}

// ticks is the unit of CPU time in /proc, USER_HZ, which is 100 a second on all Linux machines.
const ticks = 100

// cpu returns the CPU time that the process has used.
func (d *daemon) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after) // the first is field 3, the state
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}

// memory returns the resident and the largest resident memory of the process, in MiB.
func (d *daemon) memory() (now, peak int) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", d.process.Process.Pid))
	if err != nil {
		return 0, 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		switch name {
		case "VmRSS":
			now = kib / 1024
		case "VmHWM":
			peak = kib / 1024
		}
	}
	return now, peak
}

// idle returns the part of one processor that the daemon uses while nothing is asked of it.
func (d *daemon) idle(ctx context.Context, watch time.Duration) float64 {
	before := d.cpu()
	_ = sleep(ctx, watch)
	return (d.cpu() - before).Seconds() / watch.Seconds()
}

// settle waits until the daemon uses hardly any CPU: what was asked of it is done.
func (d *daemon) settle(ctx context.Context) error {
	for range 600 {
		before := d.cpu()
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		if d.cpu()-before <= 50*time.Millisecond {
			return nil
		}
	}
	return errors.New("the daemon is still busy after five minutes")
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
