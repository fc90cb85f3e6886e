package oar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lines are the cases of oarsub that need its command line, or stored jobs.
var lines = []string{"c04", "c13", "c31", "c40", "c41", "c44", "c46", "c47", "c59", "c67", "c70", "c79", "c80", "c82", "c83", "c85", "c86", "c88", "c104"}

var digits = regexp.MustCompile(`\d+`)

// The command lines of oarsub have OAR's exit codes, messages and formats.
func TestCommandLines(t *testing.T) {
	x, cases := open(t), load(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"empty.txt": "", "params.txt": "1\n2\n"} {
		if err := os.WriteFile(filepath.Join(".", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.until(x.sub("bob", "sleep 100000"), "Running") // job 1 belongs to another user
	judged := 0
	for _, c := range cases.Submissions {
		if !slices.Contains(lines, c.ID) {
			continue
		}
		judged++
		t.Run(c.ID, func(t *testing.T) {
			user := c.User
			if c.ID == "c79" {
				user = "bob"
			}
			r := x.run(user, "oarsub", c.Args[1:]...)
			if exit, ok := c.Exit.(float64); !ok || int(exit) != r.code {
				t.Errorf("exit %d, want %v: %s", r.code, c.Exit, r.err)
			}
			if first, _, _ := strings.Cut(c.Stderr, "\n"); !strings.HasPrefix(r.err, first) {
				t.Errorf("%s\nwant %s", r.err, first)
			}
			switch want := withoutRules(c.Stdout); want {
			case "<usage text>":
				if !strings.HasPrefix(r.out, "Usage: oarsub") {
					t.Errorf("no usage: %s", r.out)
				}
			default:
				if c.ID == "c83" {
					want = strings.Replace(want, "Liberty hope", "vjob test", 1) // OAR's release name
				}
				if got := digits.ReplaceAllString(withoutRules(r.out), "N"); got != digits.ReplaceAllString(want, "N") {
					t.Errorf("%q, want %q", r.out, want)
				}
			}
		})
	}
	if judged != len(lines) {
		t.Errorf("%d of %d cases were judged", judged, len(lines))
	}
}

// withoutRules removes the lines of rules of admission, which TestSubmissions checks.
func withoutRules(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "[ADMISSION RULE]") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The exit code of a command is shown once its job has ended, and only then.
func TestExitCodes(t *testing.T) {
	x := open(t)
	for command, want := range map[string]string{
		"exit 3": "768 (3,0,0)", "sleep 1": "0 (0,0,0)", `[ "$OAR_USER" = alice ] && exit 4`: "1024 (4,0,0)", "./none 2>/dev/null": "32512 (127,0,0)",
	} {
		id := x.sub("alice", "-l", "nodes=2/core=1", command)
		x.until(id, "Terminated")
		r := x.run("alice", "oarstat", "-f", "-j", id)
		if !strings.Contains(r.out, "exit_code = "+want+"\n") {
			t.Errorf("%s: %s", command, r.out)
		}
	}
	if r := x.run("alice", "oarsub", "-l", "core=1", "./none"); !strings.Contains(r.err, "# Warning: simulated guests interpret the script: ./none is not found and ends with 127") {
		t.Errorf("no warning: %+v", r)
	}
	id := x.sub("alice", "-l", "core=1", "sleep 1000000")
	x.until(id, "Running")
	x.run("alice", "oardel", id)
	x.until(id, "Terminated")
	if r := x.run("alice", "oarstat", "-f", "-j", id); strings.Contains(r.out, "exit_code") {
		t.Errorf("deleted: %s", r.out)
	}
}

// OAR's log of states is replayed: holds, suspensions, resumptions and deletions, by users with and
// without the right.
func TestStateLog(t *testing.T) {
	x := open(t)
	wide := x.sub("alice", "-l", "nodes=16", "sleep 1000000")
	x.until(wide, "Running")
	next := x.sub("alice", "-l", "nodes=16", "sleep 1000000")
	x.until(next, "Waiting")
	is := func(got result, code int, out, errs string) {
		t.Helper()
		if got != (result{code, out, errs}) {
			t.Errorf("got %+v, want %d %q %q", got, code, out, errs)
		}
	}
	is(x.run("alice", "oarhold", next), 0, "["+next+"] Hold request was sent to the OAR server.\n", "")
	x.until(next, "Hold")
	is(x.run("alice", "oarresume", next), 0, "["+next+"] Resume request was sent to the OAR server.\n", "")
	x.until(next, "Waiting")
	is(x.run("alice", "oarhold", "-r", wide), 1, "", `/!\ Cannot hold `+wide+": only oar or root users can use '-r' option.\n")
	is(x.run("alice", "oarhold", wide), 1, "", `/!\ Cannot hold `+wide+": the job is not in the right state (try '-r' option).\n")
	is(x.run("bob", "oarhold", wide), 1, "", `/!\ Cannot hold `+wide+": this job does not exist.\n")
	is(x.run("root", "oarhold", "-r", wide), 0, "["+wide+"] Hold request was sent to the OAR server.\n", "")
	x.until(wide, "Suspended")
	x.until(next, "Running") // on the resources of the suspended job
	is(x.run("alice", "oarresume", wide), 1, "", `/!\ Cannot resume `+wide+": only oar or root user can resume Suspended jobs.\n")
	is(x.run("alice", "oarresume", next), 1, "", `/!\ Cannot resume `+next+": the job is not in the Hold or Suspended state.\n")
	is(x.run("bob", "oardel", next), 1, "Deleting the job = "+next+" ...ERROR.\n", "Cannot frag "+next+" ; You are not the right user.\n")
	is(x.run("alice", "oardel", next), 0, "Deleting the job = "+next+" ...REGISTERED.\nThe job(s) [ "+next+" ] will be deleted in the near future.\n", "")
	x.until(next, "Terminated")
	is(x.run("alice", "oardel", next), 6, "Deleting the job = "+next+" ...ERROR.\n", "Cannot frag "+next+" ; This job was already killed.\n")
	is(x.run("root", "oarresume", wide), 0, "["+wide+"] Resume request was sent to the OAR server.\n", "")
	x.until(wide, "Running")
	held := x.sub("alice", "--hold", "-l", "core=1", "sleep 1")
	is(x.run("alice", "oardel", held), 0, "Deleting the job = "+held+" ...REGISTERED.\nThe job(s) [ "+held+" ] will be deleted in the near future.\n", "")
	x.until(held, "Error")
	again := x.sub("alice", "--resubmit", next)
	r := x.run("alice", "oarstat", "-f", "-j", again)
	if !strings.Contains(r.out, "resubmit_job_id = "+next+"\n") || !strings.Contains(r.out, "command = sleep 1000000\n") {
		t.Error(r.out)
	}
}

// A parameter file may be long: each of 10,000 jobs gets its line, a few megabytes in all. An array
// above the limit of the site is refused with the limit.
func TestLongParameterFiles(t *testing.T) {
	x := open(t)
	dir := t.TempDir()
	write := func(name string, jobs int) string {
		var b strings.Builder
		for i := range jobs {
			fmt.Fprintf(&b, "%d %s\n", i+1, strings.Repeat("x", 300))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := x.run("alice", "oarsub", "--array-param-file", write("long", 10_000), "-l", "nodes=1", "--hold", "work")
	numbers := jobNumber.FindAllStringSubmatch(r.out, -1)
	if r.code != 0 || len(numbers) != 10_000 {
		t.Fatalf("exit %d, %d jobs: %.300s", r.code, len(numbers), r.err)
	}
	if last := x.run("alice", "oarstat", "-f", "-j", numbers[9_999][1]); !strings.Contains(last.out, "work 10000 xxx") {
		t.Errorf("the last job: %.600s %s", last.out, last.err)
	}
	if r = x.run("alice", "oarsub", "--array-param-file", write("longer", 10_001), "-l", "nodes=1", "work"); r.code == 0 || !strings.Contains(r.err, "at most 10000 vjobs") {
		t.Errorf("exit %d: %.300s", r.code, r.err)
	}
}
