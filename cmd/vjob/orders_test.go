package main

import (
	"encoding/json"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// held submits vjobs that stay as they are: 1 climate, 2-6 the array sweep, 7 single.
func held(t *testing.T) *shell {
	t.Helper()
	s, _ := live(t)
	s.submitHeld()
	return s
}

func (s *shell) submitHeld() {
	s.t.Helper()
	s.ok("submit", "--name", "climate", "--hold", "--label", "campaign=7", "--project", "physics")
	s.ok("submit", "--name", "sweep", "--array", "5", "--hold", "--label", "campaign=8")
	s.ok("submit", "--name", "single", "--hold", "--label", "campaign=7", "--walltime", "1:00:00")
}

// heldBy is held, with a shell of bob, the owner of vjob 8.
func heldBy(t *testing.T) (s, bob *shell) {
	t.Helper()
	s, d := live(t)
	s.submitHeld()
	s.ok("accounts", "add", "bob")
	secret := strings.TrimSpace(s.ok("token", "create", "--user", "bob", "-o", "template={{.secret}}"))
	bob = &shell{t: t, env: map[string]string{"VJOB_SERVER": "http://" + d.Addresses()[1].String(), "VJOB_TOKEN": secret, "HOME": t.TempDir()}}
	bob.ok("submit", "--name", "climate", "--hold", "--label", "campaign=7")
	return s, bob
}

// left are the names of the vjobs that have not ended, and that are not about to.
func (s *shell) left() string {
	s.t.Helper()
	return strings.Join(strings.Fields(s.ok("list", "-o", "template={{range .vjobs}}{{if ne .state \"stopping\"}}{{.name}} {{end}}{{end}}", "--array", "sweep", "--state", "waiting")+
		s.ok("list", "--state", "waiting", "--label", "campaign=7", "-o", "template={{range .vjobs}}{{.name}} {{end}}")), " ")
}

// Arrays, their vjobs and ranges of these are named by number and by name in every command.
func TestOrdersToArrays(t *testing.T) {
	s := held(t)
	if out := s.ok("delete", "sweep[2-3]", "2[3]"); out != "vjob 3: will end; it has ended now\nvjob 4: will end; it has ended now\n2 vjobs will end\n" {
		t.Errorf("a range:\n%s", out)
	}
	if out := s.ok("hold", "2[1,5]"); !strings.Contains(out, "2 vjobs will be held") {
		t.Errorf("places by number:\n%s", out)
	}
	s.fails(cli.ExitConflict, "vjob 4 has ended (deleted at ", "hold", "sweep[3]")
	s.fails(cli.ExitNotFound, "vjob sweep[9]: not found", "hold", "sweep[9]")
	s.fails(cli.ExitNotFound, "climate is no array", "hold", "climate[1]")
	s.fails(cli.ExitNotFound, `array "climate": not found`, "hold", "--array", "climate")
	s.fails(cli.ExitInput, "sweep is 5 vjobs, want one of them, such as 2[1]", "console", "sweep")
	if out := s.ok("show", "sweep[4]"); !strings.Contains(out, "sweep[4]") {
		t.Errorf("show:\n%s", out)
	}
	if out := s.ok("walltime", "sweep[4]", "single", "2:00:00"); !strings.Contains(out, "2 vjobs got another walltime") {
		t.Errorf("walltime:\n%s", out)
	}
	if out := s.ok("moves", "sweep", "never"); strings.Count(out, "never now") != 3 || !strings.Contains(out, "3 vjobs") {
		t.Errorf("moves of the live ones of an array:\n%s", out)
	}
	if out := s.ok("list", "--array", "sweep[3-4]", "--columns", "name"); out != "NAME\nsweep[3]\nsweep[4]\n" {
		t.Errorf("list:\n%s", out)
	}
	s.ok("delete", "2") // without a terminal the array ends: it is named
	if got := s.left(); got != "climate single" {
		t.Errorf("left are %s", got)
	}
	s.fails(cli.ExitConflict, "array 2: all of its 5 vjobs have ended", "delete", "sweep")
	s.fails(cli.ExitConflict, "array 2: all of its 5 vjobs have ended", "delete", "2[]")
}

// An order to a whole array, or by flags, asks first on a terminal; elsewhere flags need --yes.
func TestOrdersAsk(t *testing.T) {
	s := held(t)
	s.fails(cli.ExitInput, "--state: selects any number of vjobs", "delete", "--state", "waiting")
	s.asks = true
	for _, answer := range []string{"n\n", "", "perhaps\n"} {
		s.input = answer
		s.fails(cli.ExitInternal, "delete 5 vjobs (array 2)? [y/N] vjob: nothing was changed", "delete", "sweep")
		s.fails(cli.ExitInternal, "delete 7 vjobs (vjob 1, vjob 2, vjob 3, vjob 4 and 3 more)? [y/N]", "delete", "--all")
	}
	s.input = ""
	s.ok("hold", "sweep[1]", "climate") // these were named one by one
	s.ok("hold", "sweep", "-y")
	s.input = "y\n"
	if out := s.ok("delete", "--label", "campaign=8"); !strings.HasSuffix(out, "5 vjobs will end\n") {
		t.Errorf("yes:\n%s", out)
	}
	if got := s.left(); got != "climate single" {
		t.Errorf("left are %s", got)
	}
	s.asks = false
	if out := s.ok("delete", "--label", "campaign=8", "--yes"); out != "0 vjobs will end\n" {
		t.Errorf("none are left: %s", out)
	}
	if out := s.ok("delete", "--all", "--yes"); !strings.HasSuffix(out, "2 vjobs will end\n") {
		t.Errorf("all:\n%s", out)
	}
}

// Orders to several vjobs go on after one that is refused; the exit status tells a partial failure, and what is refused for the
// same reason is printed once.
func TestOrdersInPart(t *testing.T) {
	s := held(t)
	r := s.run("release", "1", "99", "climate[2]", "single", "1")
	if r.code != cli.ExitPartial || !strings.HasSuffix(r.out, "2 vjobs released, 2 refused\n") ||
		r.err != "vjob: vjob climate[2]: climate is no array: not found\nvjob: release: vjob 99: not found\n" {
		t.Errorf("%+v", r)
	}
	r = s.run("walltime", "--all", "--yes", "+1h")
	if r.code != cli.ExitPartial || !strings.HasSuffix(r.out, "1 vjob got another walltime, 6 refused\n") || strings.Count(r.err, "\n") != 1 ||
		!strings.Contains(r.err, " and 2 more: time: the vjob has no walltime") {
		t.Errorf("%+v", r)
	}
	if r := s.run("release", "1", "7"); r.code != cli.ExitConflict || r.out != "0 vjobs released, 2 refused\n" {
		t.Errorf("none: %+v", r)
	}
	if r := s.run("release", "99"); r.code != cli.ExitNotFound || r.out != "" {
		t.Errorf("one: %+v", r)
	}
	var done wire.VJobList
	if r := s.run("hold", "2[1]", "99", "-o", "json"); r.code != cli.ExitPartial || json.Unmarshal([]byte(r.out), &done) != nil || done.Total != 1 || done.VJobs[0].ID != 2 {
		t.Errorf("json: %+v", r)
	}
	s.fails(cli.ExitInput, "nothing is selected", "delete")
	s.fails(cli.ExitInput, "--label: given beside vjobs", "delete", "--label", "campaign=7", "1")
	s.fails(cli.ExitInput, `--state: "asleep"`, "delete", "--state", "asleep", "--yes")
	s.fails(cli.ExitInput, "time: missing", "walltime", "1")
}

// Flags select the vjobs of the caller, also for administrators, unless --user names another user. Users reach no vjobs
// but their own.
func TestOrdersAreForOneUser(t *testing.T) {
	s, bob := heldBy(t)
	if out := s.ok("delete", "--state", "waiting", "--project", "physics", "--yes"); !strings.HasSuffix(out, "1 vjob will end\n") {
		t.Errorf("two flags:\n%s", out)
	}
	if out := s.ok("delete", "--user", "mallory", "--yes"); out != "0 vjobs will end\n" {
		t.Errorf("of a user without vjobs: %s", out)
	}
	if out := s.ok("delete", "--all", "--yes"); !strings.HasSuffix(out, "6 vjobs will end\n") || strings.Contains(out, "vjob 8") {
		t.Errorf("all of an administrator:\n%s", out)
	}
	bob.fails(cli.ExitNotAllowed, "owner: bob may not list the vjobs of others", "delete", "--user", "root", "--yes")
	bob.fails(cli.ExitNotFound, "vjob 1: not found", "delete", "1") // as for one that does not exist
	bob.fails(cli.ExitNotFound, "vjob 2: not found", "delete", "2")
	bob.fails(cli.ExitNotFound, `vjob "sweep": not found`, "delete", "sweep")
	bob.fails(cli.ExitNotFound, "array 2: not found", "delete", "2[1-5]")
	if got := bob.offered("delete", ""); strings.Join(got, " ") != "8 climate" {
		t.Errorf("bob is offered %q", got)
	}
	if out := bob.ok("list", "--all", "--match", "sweep", "--columns", "id"); out != "ID\n" {
		t.Errorf("bob finds:\n%s", out)
	}
	if out := s.ok("delete", "--user", "bob", "--yes"); !strings.HasSuffix(out, "1 vjob will end\n") {
		t.Errorf("of bob:\n%s", out)
	}
}

// Lists are narrowed, ordered and cut.
func TestListConditions(t *testing.T) {
	s := held(t)
	s.ok("delete", "7")
	for line, want := range map[string]string{
		"--columns id":                                         "1 2",
		"--columns id --all":                                   "1 2 7",
		"--columns id --ended":                                 "7",
		"--columns id --ended --since 1h --until 1m":           "",
		"--columns id --state ended":                           "7",
		"--columns id --outcome deleted,broken":                "7",
		"--columns id --outcome completed":                     "",
		"--columns id --outcome well":                          "error",
		"--columns id --state live":                            "1 2",
		"--columns id --since today --project physics":         "1",
		"--columns id --label campaign=7 --all --sort -id":     "7 1",
		"--columns id --label campaign":                        "1 2",
		"--columns id --match CLI":                             "1",
		"--columns id --array sweep --sort -index --limit 2":   "6 5",
		"--columns id --name sweep --limit 2":                  "2 3",
		"--columns id --node n1":                               "",
		"--columns id --user mallory":                          "",
		"--columns id --queue batch --newest --limit 1":        "2",
		"--columns outcome --ended":                            "deleted",
		"--columns labels --label campaign=7":                  "campaign=7",
		"--columns name --fold-nothing":                        "error",
		"--columns id --since tomorrow":                        "error",
		"--columns id --ended --since 1h --until 2h":           "error",
		"--columns id --label 7=campaign":                      "error",
		"--columns id --limit -1":                              "error",
		"--columns id --array nothing":                         "error",
		"--columns id --array climate":                         "error",
		"--columns id --node n1 --node n2 --state running":     "",
		"--columns id --priority --state waiting --sort index": "2 3 4 5 6 1",
	} {
		r := s.run(append([]string{"list"}, strings.Fields(line)...)...)
		if want == "error" {
			if r.code != cli.ExitInput && r.code != cli.ExitNotFound || r.err == "" {
				t.Errorf("list %s: %+v", line, r)
			}
			continue
		}
		_, rows, _ := strings.Cut(r.out, "\n")
		if got := strings.Join(strings.Fields(rows), " "); got != want || r.code != cli.ExitOK {
			t.Errorf("list %s: %q, want %q; %s", line, got, want, r.err)
		}
	}
}
