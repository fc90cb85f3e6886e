package oar_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/program"
	"vjob/cmd/vjob-oar/command"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// site is a daemon with the platform of the cases, and users that call OAR's commands.
type site struct {
	tb     testing.TB
	socket string
	tokens map[string]string // by user; root has no token and uses the socket
	env    map[string]string
	root   *client.Client
	attach func(ctx context.Context, c *client.Client, job int64) error // replaces a terminal; nil leaves at once

	pause func() // called before a command waits; may be nil

	input     string                                       // of commands
	exec      func(context.Context, []string) (int, error) // replaces other programs
	settings  settings.Settings
	stop      func()             // stops the daemon
	interrupt context.CancelFunc // interrupts the command that runs
}

// open starts a daemon with 16 nodes of 4 processors in two clusters, with fast actions.
func open(tb testing.TB, change ...func(*settings.Settings)) *site {
	tb.Helper()
	dir := tb.TempDir()
	s, err := settings.Default(func(string) string { return dir })
	if err != nil {
		tb.Fatal(err)
	}
	s.State, s.Listen.Socket = filepath.Join(dir, "state"), filepath.Join(dir, "s")
	s.Nodes = nil
	for _, part := range []struct{ name, cluster string }{{"node-[1-8]", "azur"}, {"node-[9-16]", "gdx"}} {
		s.Nodes = append(s.Nodes, settings.Node{
			Name: part.name, CPU: settings.CPU{MilliCPU: 4000}, Memory: settings.Size{MiB: 32 << 10}, Labels: map[string]string{"cluster": part.cluster},
		})
	}
	s.Simulated.Speed, s.Policy.Name = 2000, "conservative"
	s.Timing.Tick.Duration, s.Timing.Rest.Duration = 200*time.Millisecond, 10*time.Millisecond
	for _, f := range change {
		f(&s)
	}
	x := &site{tb: tb, socket: s.Listen.Socket, tokens: map[string]string{}, env: map[string]string{}, settings: s}
	x.start()
	tb.Cleanup(func() { x.stop() })
	x.root = x.client("root")
	for _, name := range []string{"alice", "bob"} {
		if _, err := x.root.CreateUser(tb.Context(), wire.User{Name: name, Role: "user"}); err != nil {
			tb.Fatal(err)
		}
		token, err := x.root.CreateToken(tb.Context(), name, wire.TokenRequest{})
		if err != nil {
			tb.Fatal(err)
		}
		x.tokens[name] = token.Secret
	}
	return x
}

// start starts the daemon of the site.
func (x *site) start() {
	x.tb.Helper()
	d, err := daemon.Open(context.Background(), x.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		x.tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	x.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			x.tb.Errorf("stop: %v", err)
		}
	})
}

// serves reports whether the daemon runs.
func (x *site) serves() bool {
	conn, err := (&net.Dialer{}).DialContext(x.tb.Context(), "unix", x.socket)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func (x *site) client(user string) *client.Client {
	x.tb.Helper()
	c, err := client.New(client.Settings{Server: "unix://" + x.socket, Token: x.tokens[user]})
	if err != nil {
		x.tb.Fatal(err)
	}
	x.tb.Cleanup(c.Close)
	return c
}

// result is the result of a command.
type result struct {
	code     int
	out, err string
}

// run runs a command, such as oarsub, as a user.
func (x *site) run(user, name string, line ...string) result {
	x.tb.Helper()
	var out, errs bytes.Buffer
	code := command.Run(x.tb.Context(), strings.TrimPrefix(name, "oar"), line, command.Environment{
		In: strings.NewReader(x.input), Exec: x.exec, Companion: func(name string) (string, error) { return "/usr/bin/" + name, nil },
		Out: &out, Err: &errs, Now: time.Now, Version: "test",
		Getenv: func(k string) string { return x.env[k] },
		Client: func() (*client.Client, error) { return x.client(user), nil },
		Attach: func(ctx context.Context, c *client.Client, job int64) error {
			if x.attach != nil {
				return x.attach(ctx, c, job)
			}
			return program.ErrLeft
		},
		Pause: func(ctx context.Context, _ time.Duration) bool {
			if x.pause != nil {
				x.pause()
			}
			time.Sleep(20 * time.Millisecond)
			return ctx.Err() == nil
		},
		Size: func() (rows, columns int) { return 50, 132 },
		Interrupted: func(parent context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(parent)
			x.interrupt = cancel
			return ctx, cancel
		},
	})
	return result{code, out.String(), errs.String()}
}

var jobNumber = regexp.MustCompile(`OAR_JOB_ID=(\d+)`)

// sub submits a job that must be accepted, and returns its number.
func (x *site) sub(user string, line ...string) string {
	x.tb.Helper()
	r := x.run(user, "oarsub", line...)
	found := jobNumber.FindStringSubmatch(r.out)
	if r.code != 0 || found == nil {
		x.tb.Fatalf("oarsub %q: exit %d: %s%s", line, r.code, r.out, r.err)
	}
	return found[1]
}

// until waits until a job has a state.
func (x *site) until(id, state string) {
	x.tb.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		r := x.run("root", "oarstat", "-s", "-j", id)
		if r.out == id+": "+state+"\n" {
			return
		}
		if time.Now().After(deadline) {
			x.tb.Fatalf("%s%s, want %s", r.out, r.err, state)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
