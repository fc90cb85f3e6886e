package oar_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/cmd/program"
)

// typeInConsole types on the console of a job and returns the output until the connection ends.
func typeInConsole(ctx context.Context, c *client.Client, job int64, text string) (shown string, err error) {
	line, err := c.Attach(ctx, job, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = line.Close() }()
	typed := make(chan error, 1)
	go func() {
		_, err := io.WriteString(line, text)
		typed <- err
	}()
	all, err := io.ReadAll(line)
	return string(all), errors.Join(err, <-typed)
}

// An interactive job prints its start, takes input, and ends with its shell.
func TestInteractive(t *testing.T) {
	x := open(t)
	shown := ""
	x.attach = func(ctx context.Context, c *client.Client, job int64) error {
		text, err := typeInConsole(ctx, c, job, "hallo\rexit\r")
		shown += text
		return err
	}
	r := x.run("alice", "oarsub", "-I", "-l", "nodes=2/core=1")
	if r.code != 0 || !strings.Contains(r.out, "# Interactive mode: waiting...\n") || !strings.Contains(r.out, "# Starting...\n") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(shown, "vjob-1-0$ hallo\r\nhallo\r\n") {
		t.Errorf("shown: %q", shown)
	}
	x.until("1", "Terminated")
}

// Leaving an interactive job ends it; leaving a job after oarsub -C does not.
func TestLeave(t *testing.T) {
	x := open(t)
	if r := x.run("alice", "oarsub", "-I", "-l", "core=1"); r.code != 0 || !strings.Contains(r.err, "# Job 1 is deleted") {
		t.Errorf("%+v", r)
	}
	x.until("1", "Terminated")
	id := x.sub("alice", "-l", "core=1", "sleep 1000000")
	x.until(id, "Running")
	if r := x.run("alice", "oarsub", "-C", id); r.code != 0 || !strings.Contains(r.err, "continues") {
		t.Errorf("%+v", r)
	}
	x.until(id, "Running")
}

// The terminal reconnects after a suspension.
func TestAttachAgain(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "core=1", "sleep 1000000")
	x.until(id, "Running")
	times := 0
	x.attach = func(ctx context.Context, c *client.Client, job int64) error {
		times++
		if times > 1 {
			_, err := typeInConsole(ctx, c, job, "exit\r")
			return err
		}
		line, err := c.Attach(ctx, job, 0)
		if err != nil {
			return err
		}
		defer func() { _ = line.Close() }()
		x.run("root", "oarhold", "-r", id) //nolint:contextcheck // another user
		_, err = io.Copy(io.Discard, line) // until the job is saved
		x.until(id, "Suspended")           //nolint:contextcheck // another user
		x.run("root", "oarresume", id)     //nolint:contextcheck // another user
		return err
	}
	if r := x.run("alice", "oarsub", "-C", id); r.code != 0 || times < 2 {
		t.Errorf("attached %d times: %+v", times, r)
	}
	x.until(id, "Terminated")
}

// An interactive job survives a restart of the daemon: the terminal reconnects to the same shell.
func TestInteractiveRestart(t *testing.T) {
	x := open(t)
	attached := false
	x.attach = func(ctx context.Context, c *client.Client, job int64) error {
		if attached {
			_, err := typeInConsole(ctx, c, job, "exit\r")
			return err
		}
		line, err := c.Attach(ctx, job, 0)
		if err != nil {
			return err
		}
		defer func() { _ = line.Close() }()
		attached = true
		x.stop()
		_, err = io.Copy(io.Discard, line)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return err
	}
	x.pause = func() {
		if attached && !x.serves() {
			x.start()
		}
	}
	r := x.run("alice", "oarsub", "-I", "-l", "nodes=2/core=1")
	if r.code != 0 || !strings.HasSuffix(r.out, "Disconnected from OAR job 1.\n") {
		t.Errorf("%+v", r)
	}
	for _, says := range []string{"# vjobd does not answer. Job 1 continues", "oarsub -C 1", "# vjobd answers again: job 1 is Running."} {
		if !strings.Contains(r.err, says) {
			t.Errorf("no %q in\n%s", says, r.err)
		}
	}
	x.until("1", "Terminated")
}

// An interactive job that is interrupted while the daemon is away continues, and oarsub says how to go on.
func TestInterruptedWithoutDaemon(t *testing.T) {
	x := open(t)
	x.attach = func(context.Context, *client.Client, int64) error {
		x.stop()
		return nil
	}
	x.pause = func() {
		if !x.serves() {
			x.interrupt()
		}
	}
	r := x.run("alice", "oarsub", "-I", "-l", "core=1")
	if r.code != 1 || !strings.Contains(r.err, "# Job 1 continues") || !strings.Contains(r.err, "oardel 1 ends the job") {
		t.Errorf("%+v", r)
	}
	x.attach = nil
	x.start()
	x.until("1", "Running")
	if r := x.run("alice", "oarsub", "-C", "1"); r.code != 0 {
		t.Errorf("%+v", r)
	}
}

// oarsub -C gives up on a running job that refuses connections, and refuses containers.
func TestNoLine(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "core=1", "sleep 1000000")
	x.until(id, "Running")
	x.attach = func(context.Context, *client.Client, int64) error { return cluster.ErrConflict }
	if r := x.run("alice", "oarsub", "-C", id); r.code != 1 {
		t.Errorf("%+v", r)
	}
	box := x.sub("alice", "-l", "core=1", "-t", "container", "true")
	x.until(box, "Running")
	for _, line := range [][]string{{"-C", box}, {"-I", "-t", "container", "-l", "core=1"}} {
		if r := x.run("alice", "oarsub", line...); r.code != 20 && r.code != 17 || !strings.Contains(r.err, "container") {
			t.Errorf("%q: %+v", line, r)
		}
	}
}

// Only the owner may connect to a VM, not even an administrator, and only while it runs.
func TestForeignLine(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "nodes=16", "sleep 1000000")
	x.until(id, "Running")
	waits := x.sub("alice", "-l", "nodes=16", "sleep 1")
	number := func(id string) int64 { n, _ := strconv.ParseInt(id, 10, 64); return n }
	for _, c := range []struct {
		user, id string
		rank     int
		want     error
	}{
		{"bob", id, 0, cluster.ErrNotFound},
		{"root", id, 0, cluster.ErrForbidden},
		{"alice", waits, 0, cluster.ErrConflict},
		{"alice", id, 16, cluster.ErrInvalid},
		{"alice", "99999", 0, cluster.ErrNotFound},
	} {
		if line, err := x.client(c.user).Attach(t.Context(), number(c.id), c.rank); !errors.Is(err, c.want) {
			t.Errorf("%s attaches to %s.%d: %v, %v, want %v", c.user, c.id, c.rank, line, err, c.want)
		}
	}
	x.attach = func(ctx context.Context, c *client.Client, job int64) error {
		line, err := c.Attach(ctx, job, 0)
		if err == nil {
			_ = line.Close()
			err = program.ErrLeft
		}
		return err
	}
	if r := x.run("root", "oarsub", "-C", id); r.code != 20 {
		t.Errorf("root: %+v", r)
	}
}
