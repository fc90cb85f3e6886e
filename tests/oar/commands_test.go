package oar_test

import (
	"strings"
	"testing"
)

// commandCase is a case of OAR's commands. The expected exit code and output are those of the case unless set
// here.
type commandCase struct {
	user, line string // words separated by |; see fill
	exit       int
	says       string // part of the output
}

// commandCases are the cases that apply. If OAR 3 has other exit codes than OAR 2, those of OAR 2 count.
var commandCases = map[string]commandCase{
	"x001": {"alice", "oarsub", 5, "Usage: oarsub"},
	"x002": {"alice", "oarsub|-q|default|sleep 1", 0, "OAR_JOB_ID="},
	"x004": {"alice", "oarsub|-l|resource_id=1000|sleep 1", 8, "There are not enough resources for your request"},
	"x005": {"alice", "oarsub|-l|resource_id=4|-p|yopyop SELECT|sleep 1", 8, "Bad resource request"},
	"x007": {"alice", "oarsub|-q|queue_doesnot_exist|sleep 1", 248, "queue 'queue_doesnot_exist' does not exist"},
	"x008": {"alice", "oarsub|-I|-r|2018-02-06 14:48:0", 7, "a reservation cannot be interactive."},
	"x010": {"alice", "oarsub|-I|-t|noop", 17, "a noop job cannot be interactive."},
	"x011": {"alice", "oarsub|-C|1234|-t|noop", 17, "connect to a NOOP job"},
	"x013": {"alice", "oarsub|--resubmit|<ended>", 0, "OAR_JOB_ID="},
	"x014": {"alice", "oarsub|--array-param-file|no_file|command", 12, "Cannot open the parameter file no_file."},
	"x016": {"alice", "oarsub|-I|--array-param-file|no_file", 9, ""},
	"x017": {"alice", "oarsub|-I|--array|2", 8, ""},
	"x022": {"alice", "oarsub|-O|foo_%jobid%o|-E|foo_%jobid%e|sleep 1", 0, "OAR_JOB_ID="},
	"x023": {"alice", "oarsub|-d|/home/robin/batcave|sleep 1", 0, "OAR_JOB_ID="},
	"x025": {"alice", "oarsub|--array|3|foo_command", 0, "OAR_ARRAY_ID="},
	"x028": {"alice", "oarsub|-C|<other>", 20, ""},
	"x029": {"alice", "oarsub|-C|<noop>", 17, ""},
	"x101": {"alice", "oardel|<waiting>", 0, "REGISTERED"},
	"x102": {"alice", "oardel|<other>", 1, "You are not the right user."},
	"x104": {"alice", "oardel|--array|99999", 0, "job for this array job"},
	"x105": {"alice", "oardel|--sql|array_id='99911'", 0, "no job matches"},
	"x107": {"alice", "oardel|--force-terminate-finishing-job|<running>", 8, ""},
	"x108": {"root", "oardel|--force-terminate-finishing-job|<running>", 10, ""},
	"x111": {"alice", "oardel|--besteffort|<running>", 8, ""},
	"x200": {"alice", "oarhold", 1, "Usage: oarhold"},
	"x202": {"alice", "oarhold|<waiting>", 0, "Hold request was sent"},
	"x203": {"alice", "oarhold|--array|<array>", 0, "Hold request was sent"},
	"x205": {"root", "oarhold|--running|<deploy>", 2, "deploy type"},
	"x206": {"alice", "oarresume", 1, "Usage: oarresume"},
	"x208": {"alice", "oarresume|<waiting>", 1, "not in the Hold or Suspended state"},
	"x209": {"root", "oarresume|<suspended>", 0, "Resume request was sent"},
	"x212": {"alice", "oarwalltime|666666", 2, "UNKNOWN JOB"},
	"x215": {"alice", "oarwalltime|<waiting>|1:2:3", 3, "is not running"},
	"x217": {"root", "oarwalltime|<container>|--|-0:30:0", 3, "reducing the walltime of a container job is not allowed"},
	"x218": {"bob", "oarqueue|-e|default", 8, ""},
	"x229": {"root", "oarnodesetting|-r|1|--maintenance|midoff", 1, "on or off"},
	"x230": {"root", "oarnodesetting|-r|1|--add", 1, "no number"},
	"x232": {"root", "oarnodesetting|--sql|state='NotExist'|--drain|on", 12, "are no resource"},
	"x233": {"root", "oarnodesetting|-h|node-1|-p|state=Alive|--drain|on", 8, "set by the system"},
	"x238": {"root", "oarproperty|-a|state", 1, "OAR system property"},
	"x245": {"alice", "oarstat|-s|-j|<waiting>", 0, "Waiting"},
	"x247": {"alice", "oarstat|--properties|--job|<waiting>|-Y|-J", 2, ""},
	"x248": {"alice", "oarstat|--events|--array|99999", 1, "No job ids specified"},
	"x250": {"alice", "oarstat|--accounting|1970-error, 1970-01-20", 1, "Bad syntax for --accounting"},
}

// Reasons why a case of OAR's commands does not apply.
const (
	likeNone    = "differs: jobs of other users are like those that do not exist"
	walltimeOn  = "differs: oarwalltime is never switched off"
	noRequests  = "differs: a change of a walltime is made at once or refused; no request waits"
	byAdmission = "differs: rules of admission set no names"
	inSettings  = "differs: queues, nodes and their properties are in the settings of the daemon"
	asSubmitted = "differs: the terms of a job never change"
)

// skippedCommands are the cases that do not apply, with the reason.
var skippedCommands = map[string]string{
	"x019": "differs: a reservation at the clock of OAR's test; those of OAR 2 are judged by TestReservations",
	"x020": "differs: unknown types are refused, as by OAR 2's rules",
	"x026": byAdmission,
	"x110": "differs: finishing jobs cannot be forced to end: vjobd retries until their VMs are gone",
	"x113": asSubmitted, "x114": asSubmitted,
	"x116": "differs: signals are not offered: they do not reach VMs",
	"x211": walltimeOn, "x214": likeNone,
	"x220": inSettings, "x221": inSettings, "x223": inSettings, "x224": inSettings, "x226": inSettings, "x227": inSettings,
	"x236": inSettings, "x239": inSettings, "x241": inSettings, "x242": inSettings, "x244": inSettings,
	"x235": "differs: oarnodesetting waits a quarter of an hour for jobs to leave, too long for a test",
}

// Each case of OAR's commands is tried, or has a reason not to apply.
func TestCommands(t *testing.T) {
	x := open(t)
	x.until(x.sub("bob", "-l", "core=1", "sleep 1000000"), "Running")
	jobs := map[string]string{
		"<other>":     "1",
		"<running>":   x.sub("alice", "-l", "core=1", "sleep 1000000"),
		"<deploy>":    x.sub("alice", "-l", "nodes=1", "-t", "deploy", "sleep 1000000"),
		"<container>": x.sub("alice", "-l", "core=1", "-t", "container", "true"),
		"<noop>":      x.sub("alice", "-l", "core=1", "-t", "noop"),
		"<ended>":     x.sub("alice", "-l", "core=1", "sleep 1"),
	}
	suspended := x.sub("alice", "-l", "core=1", "sleep 1000000")
	for _, name := range []string{"<running>", "<deploy>", "<container>"} {
		x.until(jobs[name], "Running")
	}
	x.until(jobs["<ended>"], "Terminated")
	x.until(suspended, "Running")
	if r := x.run("root", "oarhold", "-r", suspended); r.code != 0 {
		t.Fatal(r)
	}
	x.until(suspended, "Suspended")
	jobs["<suspended>"] = suspended
	tried := map[string]bool{}
	for _, c := range load(t).Commands {
		tr, ok := commandCases[c.ID]
		if _, why := skippedCommands[c.ID]; ok == why {
			t.Errorf("%s is neither tried nor has a reason, or both", c.ID)
		}
		if !ok {
			continue
		}
		tried[c.ID] = true
		t.Run(c.ID, func(t *testing.T) {
			words := strings.Split(tr.line, "|")
			for i, w := range words {
				switch w {
				case "<waiting>": // one for each, since some change it
					words[i] = x.sub("alice", "-l", "nodes=16", "sleep 1")
				case "<array>":
					words[i] = x.sub("alice", "--array", "3", "-l", "nodes=16", "sleep 1")
				default:
					if id, named := jobs[w]; named {
						words[i] = id
					}
				}
			}
			r := x.run(tr.user, words[0], words[1:]...)
			if r.code != tr.exit || !strings.Contains(r.out+r.err, tr.says) {
				t.Errorf("%q: exit %d, want %d and %q:\n%s%s", words, r.code, tr.exit, tr.says, r.out, r.err)
			}
		})
	}
	for id := range commandCases {
		if !tried[id] {
			t.Errorf("there is no case %s", id)
		}
	}
}
