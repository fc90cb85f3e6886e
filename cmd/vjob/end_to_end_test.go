package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/replay"
	"vjob/daemon"
	"vjob/daemon/settings"
	"vjob/tests/golden"
)

// live starts a daemon with two fast nodes of 2 CPU, and a shell of an
// administrator.
func live(tb testing.TB) (*shell, *daemon.Daemon) {
	tb.Helper()
	return liveWith(tb, []settings.Node{{Name: "n[1-2]", CPU: settings.CPU{MilliCPU: 2000}, Memory: settings.Size{MiB: 2048}}})
}

// liveWith is live with other nodes; none are those of the defaults.
func liveWith(tb testing.TB, nodes []settings.Node, change ...func(*settings.Settings)) (*shell, *daemon.Daemon) {
	tb.Helper()
	dir := tb.TempDir()
	s, err := settings.Default(func(string) string { return dir })
	if err != nil {
		tb.Fatal(err)
	}
	s.State, s.Listen.Socket, s.Listen.Address = filepath.Join(dir, "state"), filepath.Join(dir, "s"), "127.0.0.1:0"
	if nodes != nil {
		s.Nodes = nodes
	}
	s.Simulated.Speed = 500
	for _, f := range change {
		f(&s)
	}
	s.Timing.Tick.Duration, s.Timing.Rest.Duration = 200*time.Millisecond, 10*time.Millisecond
	d, err := daemon.Open(tb.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Serve(ctx), d.Close()) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return &shell{t: tb, env: map[string]string{"VJOB_SERVER": "unix://" + s.Listen.Socket, "HOME": dir}}, d
}

// waitFor repeats a command until what it prints holds a text.
func (s *shell) waitFor(text string, args ...string) {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		out := s.ok(args...)
		if strings.Contains(out, text) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("vjob %s never showed %q:\n%s", strings.Join(args, " "), text, out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// fails runs a command that must end with the code and say the text.
func (s *shell) fails(code int, text string, args ...string) {
	s.t.Helper()
	r := s.run(args...)
	if r.code != code || !strings.Contains(r.err, text) {
		s.t.Errorf("vjob %s: exit %d, want %d: %q, want %q", strings.Join(args, " "), r.code, code, r.err, text)
	}
}

func TestWholeWay(t *testing.T) {
	s, _ := live(t)
	if id := s.ok("submit", "--name", "low", "--vms", "4", "--mem", "256MiB", "--steps", "60m@1"); id != "1\n" {
		t.Fatalf("printed %q", id)
	}
	s.waitFor("running", "list")
	s.ok("submit", "--name", "high", "--vms", "4", "--mem", "256MiB", "--steps", "10m@1", "--priority", "5")
	s.waitFor("suspended", "list", "--name", "low")
	s.waitFor("terminated", "list", "--all", "--name", "high")
	s.waitFor("running", "list", "--name", "low")
	s.waitFor("suspend ", "plans", "show", planOf(t, s, "suspend"))
	if out := s.ok("show", "low"); !strings.Contains(out, "suspended  1 time") {
		t.Errorf("show:\n%s", out)
	}
	if out := s.ok("logs", "low", "--rank", "2"); !strings.Contains(out, "booted") {
		t.Errorf("logs: %q", out)
	}
	if out := s.ok("logs", "low", "--tail", "1"); strings.Count(out, "\n") != 4 || !strings.Contains(out, "3: [") {
		t.Errorf("tail: %q", out)
	}
	s.ok("suspend", "low")
	s.waitFor("suspended", "list")
	s.ok("resume", "low")
	s.waitFor("running", "list")
	s.fails(cli.ExitConflict, "suspend it instead", "hold", "low")
	s.fails(cli.ExitConflict, "", "release", "low")
	s.ok("delete", "low", "1")
	s.waitFor("terminated", "list", "--all", "--name", "low")
	if out := s.ok("list"); strings.Count(out, "\n") != 1 {
		t.Errorf("live vjobs are left:\n%s", out)
	}
	s.ok("watch", "--once")
}

// planOf is the number of a plan with an action of the kind.
func planOf(t *testing.T, s *shell, kind string) string {
	t.Helper()
	var list wire.PlanList
	if err := json.Unmarshal([]byte(s.ok("plans", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Plans {
		if id := fmt.Sprint(p.ID); strings.Contains(s.ok("plans", "show", id), " "+kind+" ") {
			return id
		}
	}
	t.Fatalf("no plan with %s", kind)
	return ""
}

// Rules are stated, hold and go; what would be is asked without doing it.
// A comment is given by a flag or in a file, and shown in lists and alone.
func TestComment(t *testing.T) {
	s, _ := live(t)
	file := filepath.Join(t.TempDir(), "vjob.yaml")
	if err := os.WriteFile(file, []byte("hold: true\ncomment: from a file\ntemplate: {cpu: 1, memory: 64MiB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("submit", file)
	s.ok("submit", file, "--comment", "before the deadline of Tuesday\u202e")
	if out := s.ok("show", "2"); !strings.Contains(out, `comment    before the deadline of Tuesday\u202e`+"\n") {
		t.Errorf("show:\n%s", out)
	}
	var list wire.VJobList
	if err := json.Unmarshal([]byte(s.ok("list", "-o", "json")), &list); err != nil || len(list.VJobs) != 2 || list.VJobs[0].Comment != "from a file" {
		t.Errorf("%+v, %v", list.VJobs, err)
	}
	s.fails(cli.ExitInput, "comment: ", "submit", file, "--comment", "two\nlines")
	s.fails(cli.ExitInput, "comment: ", "submit", file, "--comment", strings.Repeat("x", 1001))
}

func TestRulesAndWhatIf(t *testing.T) {
	s, _ := live(t)
	file := filepath.Join(t.TempDir(), "keep.rules")
	if err := os.WriteFile(file, []byte("ban($ALL_VMS, n1); # for the electrician\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("submit", "--name", "ruled", "--vms", "2", "--steps", "9h@1", "--fence", "n1,n2", "--rule", "soft(5) gather($VMS)")
	s.waitFor("running", "list")
	if out := s.ok("plan", "--what-if", "--rules", file); !strings.Contains(out, "every vjob would fare as it does now") {
		t.Errorf("what if:\n%s", out)
	}
	if out := s.ok("rules"); strings.Contains(out, "electrician") {
		t.Errorf("what was supposed is stated:\n%s", out)
	}
	s.ok("rules", "check", file)
	s.ok("rules", "set", file)
	s.waitFor("electrician", "rules")
	s.waitFor("n2", "show", "ruled")
	if out := s.ok("show", "ruled"); !strings.Contains(out, "soft(5) gather($VMS);") {
		t.Errorf("show:\n%s", out)
	}
	s.ok("rules", "clear")
	if out := s.ok("plan", "--what-if", "--drain", "n2", "-o", "json"); !strings.Contains(out, `"nodes"`) {
		t.Errorf("what if:\n%s", out)
	}
	s.fails(cli.ExitInput, "there is no node n99", "submit", "--rule", "ban($VMS, n99)")
	s.fails(cli.ExitInput, "only an administrator can state it", "submit", "--rule", "capacity(n1, 2)")
	s.fails(cli.ExitInput, "--what-if: requires", "plan", "--what-if")
	s.fails(cli.ExitInput, "--what-if", "plan", "--drain", "n1")
	s.fails(cli.ExitNotFound, "n99", "plan", "--what-if", "--drain", "n99")
	s.ok("delete", "ruled")
}

func TestExitCodes(t *testing.T) {
	s, d := live(t)
	s.fails(cli.ExitNotFound, "99", "show", "99")
	s.fails(cli.ExitNotFound, `vjob "unknown": not found`, "delete", "unknown")
	s.fails(cli.ExitNotFound, "n9", "nodes", "drain", "n9")
	s.fails(cli.ExitInput, "NODE: \"rack=Z\" is not a name", "nodes", "drain", "n1", "rack=Z")
	s.fails(cli.ExitNotFound, "", "plans", "show", "99")
	s.fails(cli.ExitInput, "nothing to submit", "submit")
	s.fails(cli.ExitInput, "a name with a letter", "submit", "--name", "17")
	s.fails(cli.ExitInput, "image", "submit", "--image", "nope")
	s.fails(cli.ExitInput, "no node has as much", "submit", "--cpu", "64")
	s.fails(cli.ExitInput, "vms", "submit", "--vms", "900", "--mem", "1GiB")
	s.fails(cli.ExitInput, "there is no node n9", "submit", "--ban", "n9")

	s.ok("submit", "--name", "long", "--steps", "9h@1")
	s.fails(cli.ExitConflict, "long", "submit", "--name", "long")
	s.fails(cli.ExitInput, "start or end", "submit", "--steps", "1s@1", "--wait=soon")
	s.fails(cli.ExitTimeout, "the timeout of 1ns is over", "submit", "--name", "held", "--hold", "--wait", "--timeout", "1ns")
	if out := s.ok("submit", "--name", "short", "--steps", "1s@1", "--wait"); out != "3\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("submit", "--name", "begun", "--steps", "9h@1", "--wait=start"); out != "4\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("show", "begun"); !strings.Contains(out, "running") {
		t.Errorf("it has not started:\n%s", out)
	}
	first := s.ok("submit", "--name", "once", "--idempotency-key", "k", "--hold")
	if again := s.run("submit", "--name", "once", "--idempotency-key", "k", "--hold"); again.out != first || !strings.Contains(again.err, "used before") {
		t.Errorf("again: %+v, first %q", again, first)
	}

	if out := s.ok("submit", "--name", "sweep", "--array", "3", "--steps", "1s@1", "--wait"); out != "6\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.ok("list", "--array", "6", "--state", "terminated"); strings.Count(out, "sweep[") != 3 {
		t.Errorf("not all have ended:\n%s", out)
	}
	s.ok("submit", "--array", "2", "--steps", "1s@1", "--wait=start")
	s.fails(cli.ExitTimeout, "array 11: 2 vjobs still to end: the timeout", "submit", "--array", "2", "--hold", "--wait", "--timeout", "1ns")

	s.ok("users", "add", "bob")
	s.fails(cli.ExitConflict, "bob", "users", "add", "bob")
	secret := strings.TrimSpace(s.ok("token", "create", "--user", "bob", "--expires", "1d"))
	bob := &shell{t: t, env: map[string]string{
		"VJOB_SERVER": "http://" + d.Addresses()[1].String(), "VJOB_TOKEN": secret, "HOME": t.TempDir(),
	}}
	if out := bob.ok("whoami"); out != "bob, role user, by token\n" {
		t.Errorf("whoami: %q", out)
	}
	bob.fails(cli.ExitNotFound, "", "show", "1")
	bob.fails(cli.ExitNotFound, "", "delete", "1")
	if out := bob.ok("plans"); strings.Count(out, "\n") != 1 {
		t.Errorf("plans of others:\n%s", out)
	}
	bob.ok("submit", "--name", "mine", "--cpu", "0.1", "--mem", "16MiB", "--steps", "1s@0.1", "--wait")
	if out := bob.ok("plans"); strings.Count(out, "\n") != 2 {
		t.Errorf("plans of bob:\n%s", out)
	}
	bob.fails(cli.ExitNotAllowed, "", "nodes", "drain", "n1")
	bob.fails(cli.ExitNotAllowed, "", "users")
	bob.fails(cli.ExitNotAllowed, "may not", "token", "--user", "alice")
	bob.fails(cli.ExitNotAllowed, "never", "token", "create", "--expires", "never")
	second := strings.TrimSpace(bob.ok("token", "create", "--name", "laptop"))
	rotated := strings.TrimSpace(bob.ok("token", "rotate", "2"))
	bob.env["VJOB_TOKEN"] = second
	bob.fails(cli.ExitNotAllowed, "", "list")
	bob.env["VJOB_TOKEN"] = rotated
	if out := bob.ok("token", "list"); strings.Count(out, "laptop") != 2 || strings.Count(out, "revoked") != 1 {
		t.Errorf("tokens:\n%s", out)
	}
	bob.fails(cli.ExitNotFound, `token "77"`, "token", "revoke", "77")
	bob.ok("token", "revoke", "1")
	s.ok("accounts", "disable", "bob")
	bob.fails(cli.ExitNotAllowed, "", "list")
	s.ok("accounts", "enable", "bob")
	s.ok("accounts", "change", "bob", "--groups", "none")
	if out := s.ok("accounts"); !strings.Contains(out, "none") {
		t.Errorf("accounts:\n%s", out)
	}
	bob.ok("list")
	s.ok("users", "delete", "bob")
	if out := s.ok("audit"); strings.Count(out, "user.change") != 3 || strings.Count(out, "token.") != 4 || !strings.Contains(out, "user.delete") {
		t.Errorf("the audit list:\n%s", out)
	}

	offline := &shell{t: t, env: map[string]string{"VJOB_SERVER": "unix:///none/s", "HOME": t.TempDir()}}
	offline.fails(cli.ExitInternal, "is vjobd running there?", "list")
}

func TestNodes(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "a", "--vms", "2", "--mem", "256MiB", "--steps", "9h@1", "--spread")
	s.waitFor("running", "list")
	s.fails(cli.ExitConflict, "n1", "nodes", "offline", "n1")
	s.ok("delete", "a")
	s.waitFor("terminated", "list", "-a")
	s.ok("nodes", "drain", "n1")
	s.waitFor("draining", "nodes")
	s.ok("nodes", "offline", "n1")
	s.waitFor("offline", "nodes")
	s.ok("nodes", "online", "n1")
	s.ok("nodes", "down", "n2", "--fenced")
	s.waitFor("down", "nodes")
}

// A stream of events ends when the user has seen enough, and that is no error.
func TestFollow(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "a", "--steps", "9h@1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for _, format := range []string{cli.FormatTable, cli.FormatJSON} {
		var out, errs bytes.Buffer
		code := run(ctx, cli.Streams{
			In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Width: func() int { return 0 },
			Getenv: func(k string) string { return s.env[k] },
		}, []string{"events", "--follow", "-o", format})
		if format == cli.FormatTable && (code != cli.ExitOK || !strings.Contains(out.String(), "submitted")) {
			t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
		}
	}
}

// The live view ends on q.
func TestWatchEnds(t *testing.T) {
	s, _ := live(t)
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	go func() {
		time.Sleep(500 * time.Millisecond)
		_, _ = keys.WriteString("q")
		_ = keys.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, cli.Streams{
		In: in, Out: &out, Err: &errs, Now: time.Now, Width: func() int { return 80 },
		Getenv: func(k string) string { return s.env[k] },
	}, []string{"watch"})
	if code != cli.ExitOK || ctx.Err() != nil {
		t.Errorf("exit %d, %v: %s", code, ctx.Err(), errs.String())
	}
}

// Completion knows the commands; help and version say what they are.
func TestHelp(t *testing.T) {
	s := &shell{t: t, env: map[string]string{}}
	if out := s.ok(); !strings.Contains(out, "Exit codes:") {
		t.Errorf("help: %s", out)
	}
	for _, name := range []string{"bash", "zsh", "fish"} {
		if out := s.ok("completion", name); len(out) < 1000 {
			t.Errorf("completion %s: %d bytes", name, len(out))
		}
	}
	if out := s.ok("version"); !strings.HasPrefix(out, "vjob ") {
		t.Errorf("version: %q", out)
	}
	if out := s.ok("__complete", "list", "--state", ""); !strings.Contains(out, "suspended") {
		t.Errorf("states are not offered: %s", out)
	}
}

// TestReplay prints both policies side by side, the same every time.
func TestReplay(t *testing.T) {
	s := &shell{t: t, env: map[string]string{}}
	svg := filepath.Join(t.TempDir(), "a.svg")
	out := s.ok("replay", "testdata/small.json", "--svg", svg)
	golden.Same(t, "testdata/replay.golden", out)
	picture, err := os.ReadFile(svg)
	if err != nil || !bytes.HasPrefix(picture, []byte("<svg")) {
		t.Errorf("picture: %v", err)
	}
	var got replay.Replayed
	if err := json.Unmarshal([]byte(s.ok("replay", "testdata/small.json", "-o", "json", "--policy", "fcfs")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Runs) != 1 || got.Runs[0].Policy != "fcfs" || len(got.Runs[0].VJobs) != 2 || got.Runs[0].VJobs[1].Ended <= 0 {
		t.Errorf("%+v", got)
	}
}
