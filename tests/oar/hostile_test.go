package oar_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// secret is the text that only the owner of a job may read.
const secret = "s3cret"

// shown returns all that is known of a user's jobs, without values that change with time.
func (x *site) shown(user string) string {
	x.tb.Helper()
	r := x.run("root", "oarstat", "-J", "-u", user)
	if r.code != 0 {
		x.tb.Fatal(r)
	}
	return hints.ReplaceAllString(r.out, "")
}

// hints matches texts of the scheduler that come with a delay.
var hints = regexp.MustCompile(`"message":"[^"]*",|"scheduledStart":\d+,`)

// With the numbers of another user's jobs, no command and no call changes or reveals anything. The
// answers are those for missing jobs.
func TestForeignJobs(t *testing.T) {
	x := open(t)
	const command = "echo " + secret
	running := x.sub("bob", "-l", "core=1", "-n", secret, "-t", "container=box", "sleep 1000000")
	x.until(running, "Running")
	for !strings.Contains(x.shown("bob"), `["node-1"]`) { // the node appears a moment later
		time.Sleep(10 * time.Millisecond)
	}
	held := x.sub("bob", "-l", "core=1", "--hold", "-n", secret, command)
	array := x.sub("bob", "-l", "core=1", "--hold", "--array", "2", "-n", secret, command)
	ended := x.sub("bob", "-l", "core=1", "-n", secret, command)
	x.until(ended, "Terminated")
	before := x.shown("bob")
	commands := []string{
		"oarsub|-C|ID", "oarsub|--resubmit|ID", "oarsub|-t|inner=ID|sleep 1", "oarsub|-t|inner=box|sleep 1", "oarsub|-a|ID|sleep 1",
		"oardel|ID", "oardel|--array|ID", "oardel|-c|ID", "oardel|-s|12|ID", "oardel|-b|ID", "oardel|--force-terminate-finishing-job|ID",
		"oarhold|ID", "oarhold|-r|ID", "oarhold|--array|ID", "oarresume|ID", "oarresume|--array|ID",
		"oarstat|-j|ID", "oarstat|-f|-j|ID", "oarstat|-J|-j|ID", "oarstat|-s|-j|ID", "oarstat|-e|-j|ID", "oarstat|-p|-j|ID", "oarstat|--array|ID",
		"oarstat|-u|bob", "oarstat|-g|2020-01-01 00:00:00, 2037-01-01 00:00:00", "oarstat|--accounting|2020-01-01, 2037-01-01",
		"oarwalltime|ID", "oarwalltime|ID|+1", "oarwalltime|ID|1:0:0", "oarconnect|ID", "oarprint|-j|ID|host", "oarprint|-j|ID|-l", "oarstat|--sql|job_id = ID", "oardel|--sql|job_id = ID", "oarhold|--sql|job_id = ID", "oarnodes", "oarnodes|-J", "oarnodes|-j",
	}
	calls := []string{
		"GET /jobs/ID", "GET /jobs/ID/details", "GET /jobs/ID/resources", "GET /jobs/ID/nodes", "GET /jobs?ids=ID", "GET /jobs?array=ID", "GET /jobs?user=bob&from=1",
		"GET /jobs/details?user=bob&from=1", "GET /jobs/details?structure=oar&from=1", "GET /jobs/table?from=1", "GET /gantt?from=1", "GET /accounting?from=1",
		"GET /resources", "GET /resources/full", "GET /resources/1", "GET /resources/1/jobs", "GET /resources/nodes/node-1/jobs",
		"DELETE /jobs/ID", "POST /jobs/ID", "POST /jobs/ID/deletions/new", "POST /jobs/ID/holds/new", "POST /jobs/ID/rholds/new", "POST /jobs/ID/resumptions/new",
		"POST /jobs/ID/checkpoints/new", "POST /jobs/ID/resubmissions/new", "POST /jobs/ID/signals/12", "POST /jobs/array/ID/deletions/new", "POST /jobs/array/ID/holds/new",
		"POST /jobs/array/ID/rholds/new", "POST /jobs/array/ID/resumptions/new", "POST /jobs/array/ID/checkpoints/new",
	}
	const none = "99999"
	for _, id := range []string{running, held, array, ended} {
		for _, line := range commands {
			ask := func(id string) string {
				words := strings.Split(strings.ReplaceAll(line, "ID", id), "|")
				return fmt.Sprint(x.run("alice", words[0], words[1:]...))
			}
			compareAnswers(t, line, ask(id), ask(none), id, none)
		}
		for _, c := range calls {
			ask := func(id string) string {
				method, path, _ := strings.Cut(strings.ReplaceAll(c, "ID", id), " ")
				body := ""
				if c == "POST /jobs/ID" {
					body = `{"method": "delete"}`
				}
				status, answer := x.call(x.tokens["alice"], method, path, body)
				if strings.Contains(c, "/ID/") && !strings.Contains(c, "/array/") && status != 404 {
					t.Errorf("%s: %d", c, status)
				}
				delete(answer, "api_timestamp")
				text, err := json.Marshal(answer)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			compareAnswers(t, c, ask(id), ask(none), id, none)
		}
	}
	if after := x.shown("bob"); after != before {
		t.Errorf("bob's jobs were\n%s\nand are\n%s", before, after)
	}
}

// compareAnswers compares the answers for another user's job and for a missing job.
func compareAnswers(t *testing.T, what, of, ofNone, id, none string) {
	t.Helper()
	if strings.Contains(of, secret) || strings.Contains(of, "bob") && !strings.Contains(what, "bob") {
		t.Errorf("%s tells something of job %s: %s", what, id, of)
	}
	if got, want := digits.ReplaceAllString(of, "N"), digits.ReplaceAllString(ofNone, "N"); got != want {
		t.Errorf("%s: of job %s %s, of job %s %s", what, id, of, none, ofNone)
	}
}

// Bad input is refused with its position, in printable lines, and leaves nothing behind.
func TestHostileInput(t *testing.T) {
	x := open(t)
	t.Chdir(t.TempDir())
	x.env["TZ"] = "Europe/Paris"
	for name, text := range map[string]string{
		"binary.txt": "ok\n\x00\x01\xff\n", "huge.txt": strings.Repeat("x\n", 17<<19), "wide.txt": strings.Repeat("x", 1<<20+1), "quotes.txt": "a 'b\n", "many.txt": strings.Repeat("1\n", 100_001),
		"binary.sh": "#!/bin/sh\n#OAR -n \x1b[31m\x00\n", "quotes.sh": "#!/bin/sh\n#OAR -p \"cluster = 'azur'\n", "braces.sh": "#!/bin/sh\n#OAR -l {{}/nodes=1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("a", 1<<20)
	for _, c := range []struct {
		line []string
		exit int
		says string
	}{
		{[]string{"-l", strings.Repeat("nodes=1+", 1<<17) + "nodes=1"}, 18, "-l:1:1: the request has 1048583 bytes; 65536 are allowed"},
		{[]string{"-l", "{cluster = '" + long + "'}/nodes=1"}, 18, "-l:1:1: the request has 1048598 bytes; 65536 are allowed"},
		{[]string{"-l", "{cluster = '" + long[:1<<17] + "'}/nodes=1"}, 18, "-l:1:1"},
		{[]string{"-p", strings.Repeat("(", 100_000)}, 8, "-p:1:"},
		{[]string{"-l", "{{cluster='azur'}/nodes=1"}, 18, "-l:1:2"},
		{[]string{"-l", "{cluster='azur'}}/nodes=1"}, 18, "-l:1:17"},
		{[]string{"-l", "{cluster='azur}/nodes=1"}, 18, "-l:1:10"},
		{[]string{"-l", "{1=1} OR {1=1}/nodes=1"}, 18, "-l:1:2"},
		{[]string{"-l", "{cluster='a' OR 1=1}/nodes=1"}, 18, "-l:1:17"},
		{[]string{"-p", "cluster='azur'; DELETE FROM jobs"}, 8, "-p:1:15"},
		{[]string{"-p", "cluster='azur' -- x"}, 8, "-p:1:16"},
		{[]string{"-p", "cluster=(SELECT 1)"}, 8, "-p:1:9"},
		{[]string{"-p", "x\x1b]0;evil\a='1'"}, 8, "-p:1:2"},
		{[]string{"-n", "n" + long}, 1, "it has 1048577 bytes"},
		{[]string{"-n", "a\x1b[31m"}, 1, `Value "a·[31m" invalid for option name`},
		{[]string{"-n", long[:1<<17]}, 1, "invalid for option name"},
		{[]string{"-d", "/" + long[:1<<17]}, 1, "invalid for option directory"},
		{[]string{"-t", strings.Repeat(long, 17)}, 254, "-t: 17825792 bytes are too many"},
		{[]string{"-t", long}, 254, "unknown job type"},
		{[]string{"-t", long[:1<<17]}, 254, "unknown job type"},
		{[]string{"-q", "q\x1b[2J"}, 248, "# Error: queue"},
		{[]string{"--project", "p;rm -rf /"}, 254, "project"},
		{[]string{"--mem", "-1GiB"}, 1, "mem"},
		{[]string{"--image", "../../etc/passwd"}, 8, "image"},
		{[]string{"-r", "2027-03-28 02:30:00"}, 7, "-r:1:1"},
		{[]string{"-r", "2027-02-30 12:00:00"}, 7, "-r:1:1"},
		{[]string{"-r", "2027-01-01 12:00:00, 2027-02-29 12:00:00"}, 7, "-r:1:"},
		{[]string{"-t", "postpone=2027-03-28 02:30:00"}, 254, "-t:1:1"},
		{[]string{"--array-param-file", "binary.txt"}, 12, "binary.txt:2"},
		{[]string{"--array-param-file", "huge.txt"}, 12, "huge.txt: 17825792 bytes are too many: want at most 16777216 bytes"},
		{[]string{"--array-param-file", "wide.txt"}, 12, "wide.txt:1:1: the line has 1048577 bytes; 16384 are allowed"},
		{[]string{"--array-param-file", "quotes.txt"}, 12, "quotes.txt:1"},
		{[]string{"--array-param-file", "many.txt"}, 12, "many.txt"},
		{[]string{"--array", "99999999999999999999"}, 6, "sub-jobs"},
		{[]string{"-S", "./binary.sh"}, 12, "binary.sh"},
		{[]string{"-S", "./braces.sh"}, 18, "-l:1:2"},
		{[]string{"-a", "99999999999999999999"}, 1, "invalid for option a"},
		{[]string{"-a", "0"}, 1, "invalid for option a"},
		{[]string{"--notify", "mail:a@b.c\r\nBcc: x@y.z"}, 250, "# Error: bad syntax for the notify option"},
	} {
		words := append(slices.Clone(c.line), "sleep 1")
		if c.line[0] == "-S" {
			words = c.line
		}
		began := time.Now()
		r := x.run("alice", "oarsub", words...)
		shown := fmt.Sprintf("oarsub %.60q", c.line)
		if r.code != c.exit || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, want %d and %s:\n%.600s", shown, r.code, c.exit, c.says, r.err)
		}
		if i := strings.IndexFunc(r.out+r.err, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
			t.Errorf("%s: a terminal would obey what is said: %q", shown, r.out+r.err)
		}
		if len(r.err) > 20_000 {
			t.Errorf("%s: %d bytes are said", shown, len(r.err))
		}
		t.Logf("%s: %s", shown, time.Since(began))
	}
	if got := x.shown("alice"); got != "{}\n" {
		t.Errorf("something was left behind: %s", got)
	}
}
