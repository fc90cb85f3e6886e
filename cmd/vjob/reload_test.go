package main

import (
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/daemon/settings"
)

// A reload prints what changes and what became of it. Escape sequences in the settings do not reach the terminal.
func TestReloadPrintsTheChanges(t *testing.T) {
	answer := wire.Reload{File: "/etc/vjob/vjobd.yaml", Applied: true, Restart: 1, Changes: []wire.SettingChange{
		{Setting: "listen.address", Kind: "changed", Old: `""`, New: "127.0.0.1:8476", Effect: "restart"},
		{Setting: "nodes.n9", Kind: "added", New: "{cpu: 4, memory: 8GiB}", Effect: "live"},
		{Setting: "queues.night.priority", Kind: "changed", Old: "5", New: "10", Effect: "live"},
		{Setting: "rights.whole_nodes", Kind: "removed", Old: "evil\x1b[2J", Effect: "live"},
	}}
	answers := map[string]any{"/v1/admin/reload": answer}
	s, _ := against(t, answers)
	got := s.ok("admin", "reload")
	want := `listen.address: "" → 127.0.0.1:8476  (needs a restart)
+ nodes.n9 {cpu: 4, memory: 8GiB}
queues.night.priority: 5 → 10
- rights.whole_nodes ` + display.Clean("evil\x1b[2J") + `
3 changes applied, 1 in effect when vjobd is started again
`
	if got != want || strings.Contains(got, "\x1b") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	answer.Applied = false
	answers["/v1/admin/reload"] = answer
	if got := s.ok("admin", "reload", "--check"); !strings.Contains(got, "3 changes to apply, 1 in effect when vjobd is started again\n") {
		t.Errorf("checked: %s", got)
	}
	answers["/v1/admin/reload"] = wire.Reload{Applied: true}
	if got := s.ok("admin", "reload"); !strings.HasPrefix(got, "nothing differs") {
		t.Errorf("no changes: %s", got)
	}
	if got := s.ok("admin", "reload", "-o", "json"); !strings.Contains(got, `"applied": true`) {
		t.Errorf("JSON: %s", got)
	}
	s.fails(cli.ExitInput, "want none", "admin", "reload", "now")
}

// The doctor's findings are aligned, each next step is below its finding, and red is an exit code of its own.
func TestDoctorPrintsFindings(t *testing.T) {
	found := wire.Doctor{At: noon, Version: "development", Level: "red", Findings: []wire.Finding{
		{Check: "store", Level: "green", Text: "sound"},
		{Check: "backup", Level: "yellow", Text: "no back-up has been made", Next: "vjob admin backup FILE"},
		{Check: "nodes", Level: "red", Text: "n1 does not answer", Next: "vjob nodes show n1"},
	}}
	answers := map[string]any{"/v1/admin/doctor": found}
	s, _ := against(t, answers)
	s.width = 40 // nothing is cut
	s.env["NO_COLOR"] = "1"
	r := s.run("admin", "doctor")
	const want = `store     green   sound
backup    yellow  no back-up has been made
                  next: vjob admin backup FILE
nodes     red     n1 does not answer
                  next: vjob nodes show n1

1 red, 1 yellow, 4 green
`
	if r.code != cli.ExitInternal || r.err != "" || !strings.HasSuffix(r.out, want) {
		t.Errorf("exit %d, errors %q, output\n%s\nwant at its end\n%s", r.code, r.err, r.out, want)
	}
	delete(s.env, "NO_COLOR")
	if r := s.run("admin", "doctor"); !strings.Contains(r.out, display.Coloured(display.Red, "red")) {
		t.Errorf("no colours: %q", r.out)
	}
	found.Findings, found.Version, found.At = found.Findings[:2], "v0.1", noon.Add(-5*60e9)
	answers["/v1/admin/doctor"] = found
	r = s.run("admin", "doctor", "-o", "json")
	if r.code != cli.ExitInternal || !strings.Contains(r.out, "the client is development, the daemon v0.1") || !strings.Contains(r.out, "differ by 5m0s") {
		t.Errorf("other version and clock: exit %d\n%s", r.code, r.out)
	}
	found.At = noon
	answers["/v1/admin/doctor"] = found
	if r := s.run("admin", "doctor"); r.code != cli.ExitOK {
		t.Errorf("without a red finding: exit %d", r.code)
	}
}

// Without a daemon the doctor says so, and what comes next.
func TestDoctorWithoutADaemon(t *testing.T) {
	s := &shell{t: t, env: map[string]string{"VJOB_SERVER": "unix:///nonexistent/s", "HOME": t.TempDir()}}
	r := s.run("admin", "doctor")
	if r.code != cli.ExitInternal || !strings.Contains(r.out, "daemon  red    no answer from unix:///nonexistent/s") || !strings.Contains(r.out, "next: systemctl status vjobd") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// A whole daemon without a settings file has nothing to reload, and examines itself.
func TestReloadAndDoctorOfADaemon(t *testing.T) {
	s, _ := liveWith(t, []settings.Node{{Name: "n1", CPU: settings.CPU{MilliCPU: 2000}, Memory: settings.Size{MiB: 2048}}})
	s.fails(cli.ExitConflict, "start it with --settings FILE", "admin", "reload")
	s.waitFor("online", "nodes")
	if r := s.run("admin", "doctor"); !strings.Contains(r.out, "store     green") || !strings.Contains(r.out, "1 of 1 nodes are well") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
