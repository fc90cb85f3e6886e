package oar_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// siblings are command lines beyond the recorded cases: from OAR's manual, and neighbouring options of
// its programs. The lines of rules of admission are removed from the output; N stands for a number.
var siblings = []struct {
	line string
	exit int
	out  string // complete; of Usage: the beginning
	err  string // the first line
}{
	// The number of commands.
	{"oarsub", 5, "Usage: oarsub", ""},
	{"oarsub|sleep 1|sleep 2", 5, "Usage: oarsub", ""},
	{"oarsub|-t|noop", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|noop=standby|-l|nodes=1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-h", 0, "Usage: oarsub", ""},
	{"oarsub|--resource", 1, "", "Option resource requires an argument"},
	{"oarsub|-x|sleep 1", 1, "", "Unknown option: x"},
	// Arrays.
	{"oarsub|--array|1|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|--array|2|sleep 1", 0, "OAR_JOB_ID=N\nOAR_JOB_ID=N\nOAR_ARRAY_ID=N\n", ""},
	{"oarsub|--array=2|-l|nodes=1,walltime=1|-l|nodes=2,walltime=0:30|sleep 1", 0, "OAR_JOB_ID=N\nOAR_JOB_ID=N\nOAR_ARRAY_ID=N\n", ""},
	{"oarsub|--array|x|sleep 1", 1, "", `Value "x" invalid for option array (number expected)`},
	{"oarsub|--array|2.5|sleep 1", 1, "", `Value "2.5" invalid for option array (number expected)`},
	{"oarsub|-I|--array|0", 8, "Usage: oarsub", "# Error: an array job cannot be interactive."},
	{"oarsub|--array-param-file|one.txt|./prog", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|--array-param-file|comments.txt|./prog", 0, "OAR_JOB_ID=N\nOAR_JOB_ID=N\nOAR_ARRAY_ID=N\n", ""},
	{"oarsub|--array-param-file|only-comments.txt|./prog", 6, "", "# Error: an array job must have a positive number of sub-jobs."},
	{"oarsub|--array-param-file|nofile.txt|./prog", 12, "", "[ERROR] Cannot open the parameter file nofile.txt."},
	{"oarsub|--array-param-file|params.txt", 5, "Usage: oarsub", ""},
	// Interactive jobs, reservations, connections.
	{"oarsub|-I|-r|2037-01-01 10:00:00", 7, "Usage: oarsub", "# Error: a reservation cannot be interactive."},
	{"oarsub|-I|-t|noop=standby", 17, "", "# Error: a noop job cannot be interactive."},
	{"oarsub|-r|2037-02-30 10:00:00|sleep 1", 7, "", "# Error: syntax error in <start date>"},
	{"oarsub|-r||sleep 1", 7, "", "# Error: syntax error in <start date>"},
	{"oarsub|-r|25:00|sleep 1", 7, "", "# Error: syntax error in <start date>"},
	{"oarsub|-r|10:60|sleep 1", 7, "", "# Error: syntax error in <start date>"},
	{"oarsub|-r|2037-01-01|sleep 1", 7, "", "# Error: syntax error in <start date>"},
	{"oarsub|-r|2037-01-01 01:00:00, 2037-01-40 02:00:00|sleep 1", 7, "", "# Error: syntax error in <end date>"},
	{"oarsub|-C|99999", 20, "", "# Error: job 99999"},
	{"oarsub|-C|x", 1, "", `Value "x" invalid for option connect (number expected)`},
	// Refusals of rules of admission.
	{"oarsub|-t|cosystem|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: type cosystem has no effect here: the command runs in the first VM"},
	{"oarsub|-t|deploy=standby|-l|nodes=1|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|timesharing=*,user|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: type timesharing=*,user shares nothing here: its processors are its own"},
	{"oarsub|-t|timesharing=name,user|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|timesharing=*,*|-l|nodes=2|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|timesharing=*|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: timesharing=*"},
	{"oarsub|-t|token|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: token"},
	{"oarsub|-t|token:x|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: token:x"},
	{"oarsub|-t|idempotent|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|bogus|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: bogus"},
	{"oarsub|-t|placeholder=night|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: type placeholder=night has no effect here: what it holds it holds against all."},
	{"oarsub|-t|placeholder|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: placeholder"},
	{"oarsub|-t|postpone=2037-01-01|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|expire=2037-01-01 10:00|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|expire=2020-01-01|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|postpone=2037-01-01|-r|2037-01-01 10:00:00|sleep 1", 8, "", "# Error: the job cannot be taken as it is."},
	{"oarsub|-t|inner=99999|sleep 1", 254, "", "[ADMISSION RULE] Error: job type cannot be used: inner=99999"},
	{"oarsub|-t|postpone=soon|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: postpone=soon"},
	{"oarsub|-t|deadline=2037-01-01 10:00:00|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-t|state=strict|sleep 1", 254, "", "[ADMISSION RULE] Error: unknown job type: state=strict"},
	{"oarsub|-t|inner=nosuch|sleep 1", 254, "", "[ADMISSION RULE] Error: job type cannot be used: inner=nosuch"},
	{"oarsub|-l|state=1|sleep 1", 254, "", "[ADMISSION RULE] 'state' resource is not allowed"},
	{"oarsub|-t|deploy|-l|nodes=1/core=1|sleep 1", 254, "", "[ADMISSION RULE] 'core' resource is not allowed with a deploy job"},
	// Missing resources.
	{"oarsub|-l|nodes=0|sleep 1", 8, "", "# There are not enough resources for your request\n# Error: please verify your job submission syntax.\n"},
	{"oarsub|-l|nodes=99999999999999999999|sleep 1", 8, "", "# There are not enough resources for your request"},
	{"oarsub|-l|{cluster='nosuch'}/nodes=1|sleep 1", 8, "", "# There are not enough resources for your request"},
	{"oarsub|-l|nosuch=1|sleep 1", 8, "", "# Bad resource request"},
	{"oarsub|-p|nosuch = 'x'|sleep 1", 8, "", "# Bad resource request"},
	{"oarsub|-p|cluster = 'azur'; drop table jobs|sleep 1", 8, "", "# Bad resource request"},
	{"oarsub|-p|{1=1} OR 1=1|sleep 1", 8, "", "# Bad resource request"},
	{"oarsub|-l||sleep 1", 18, "", "# Error: cannot recognize --  -- resource"},
	{"oarsub|-l|nodes=2,walltime=1h|sleep 1", 18, "", "# Error: cannot recognize -- ,walltime=1h -- resource"},
	// Files, names, signals, dependencies.
	{"oarsub|-E|a;b|sleep 1", 243, "", "# Error: invalid stderr file name (bad character)"},
	{"oarsub|-O|a`b|sleep 1", 244, "", "# Error: invalid stdout file name (bad character)"},
	{"oarsub|-O|/tmp/%jobid%.out|-E|err-%jobid%|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|--notify|bogus|sleep 1", 250, "", "# Error: bad syntax for the notify option"},
	{"oarsub|--notify|exec:/bin/x;rm|sleep 1", 16, "", `# Error: insecure characters found in notification method (the allowed regexp is: [a-zA-Z0-9_.\/ -]+).`},
	{"oarsub|--notify|[NOSUCH]mail:a@b.c|sleep 1", 250, "", "# Error: bad syntax for the notify option"},
	{"oarsub|--notify|[RUNNING, END]mail:a@b.c|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: this site sends no mails."},
	{"oarsub|--checkpoint|x|sleep 1", 1, "", `Value "x" invalid for option checkpoint (number expected)`},
	{"oarsub|--resubmit|x", 1, "", `Value "x" invalid for option resubmit (number expected)`},
	{"oarsub|-q|besteffort|-t|idempotent|sleep 1", 0, "OAR_JOB_ID=N\n", ""},
	{"oarsub|-X|sleep 1", 1, "", "XML is not offered"},
	{"oarsub|-J|sleep 1", 0, "{\n   \"job_id\" : N\n}\n", ""},
	{"oarsub|-S|./nofile.sh", 12, "", "[ERROR] Cannot open the script ./nofile.sh."},
	// The other commands.
	{"oardel", 1, "Usage: oardel", ""},
	{"oardel|abc", 4, "", `[ERROR] "abc" is not a valid job identifier`},
	{"oardel|-1", 1, "", "Unknown option: 1"},
	{"oardel|0", 4, "", `[ERROR] "0" is not a valid job identifier`},
	{"oardel|--array|abc", 4, "", `[ERROR] "abc" is not a valid job array identifier`},
	{"oardel|99999", 1, "Deleting the job = N ...ERROR.\n", "Cannot frag 99999 ; You are not the right user."},
	{"oardel|-c|99999", 1, "Checkpointing the job N ...ERROR.\n", "Cannot checkpoint 99999 ; You are not the right user."},
	{"oardel|-s|USR1|99999", 1, "Signaling the job N with USRN signal.\nERROR.\n", "Cannot signal 99999 ; You are not the right user."},
	{"oardel|-b|1", 8, "", "You must be oar or root to use the -b option"},
	{"oardel|--force-terminate-finishing-job|1", 8, "", "You must be oar or root to use the --force-terminate-finishing-job option"},
	{"oarhold|abc", 2, "", `[ERROR] "abc" is not a valid job identifier`},
	{"oarhold|99999", 1, "", `/!\ Cannot hold 99999: this job does not exist.`},
	{"oarhold|-r|99999", 1, "", `/!\ Cannot hold 99999: this job does not exist.`},
	{"oarresume|abc", 2, "", `[ERROR] "abc" is not a valid job identifier`},
	{"oarresume|99999", 1, "", `/!\ Cannot resume 99999: this job does not exist.`},
	{"oarstat|-s", 1, "", "--state can only be used with an id"},
	{"oarstat|-j", 255, "", "No job id provided in command line or environment variables"},
	{"oarstat|-j|1|--array|1", 1, "", `/!\ ERROR: Conflicting Job IDs and Array IDs (--array and -j cannot be used together)`},
	{"oarstat|-c|-f", 1, "", "Compact view cannot be used with exports or full view"},
	{"oarstat|-c|-J", 1, "", "Compact view cannot be used with exports or full view"},
	{"oarstat|--sql|1=1|-p", 1, "", "Options --sql and -p cannot be used together"},
	{"oarstat|-g|yesterday", 1, "", "Bad syntax for --gantt"},
	{"oarstat|-g|2026-11-20 10:00:00, 2026-11-19 10:00:00", 1, "", "Bad syntax for --gantt"},
	{"oarstat|--accounting|2026-11-20", 1, "", "Bad syntax for --accounting"},
	{"oarstat|--format|7", 1, "", `Value "7" invalid for option format (1, 2 or 3 expected)`},
	{"oarstat|-j|abc", 1, "", `Value "abc" invalid for option job (number expected)`},
	{"oarstat|-e", 1, "", "No job ids specified"},
	{"oarstat|-p", 1, "", "No job ids specified"},
	{"oarstat|-u|zoe", 0, "", ""},
	{"oarstat|-V", 0, "OAR version: N.N.N (vjob test)\n", ""},
	{"oarnodes|nosuch", 0, "", `/!\ No nodes to display...`},
	{"oarnodes|-s|-r|1", 0, "node-N:\n    N: Alive\n", ""},
	{"oarnodesetting|-h|node-1|-s|Absent", 254, "", ""},
	{"oarwalltime|99999", 2, "", "UNKNOWN JOB"},
	{"oarwalltime|1", 2, "", "UNKNOWN JOB"}, // of bob
	{"oarwalltime|1|+1:0:0", 4, "", "Not found: could not find job 1."},
	{"oarwalltime|1|soon", 4, "Usage: oarwalltime", "Syntax error: \"soon\" is no walltime"},
	{"oarwalltime|--force|1", 4, "Usage: oarwalltime", "Syntax error."},
	{"oarwalltime|abc", 4, "Usage: oarwalltime", "Syntax error: \"abc\" is not a valid job identifier."},
	{"oarwalltime|1|2|3", 4, "Usage: oarwalltime", "Syntax error."},
	{"oarwalltime", 4, "Usage: oarwalltime", "Syntax error."},
	{"oarqueue|-D", 8, "", "You must be oar or root"},
	{"oarnotify|-D", 8, "", "You must be oar or root"},
	{"oarnotify|Term", 0, "", "# Warning: \"Term\" has no effect: vjobd detects changes itself."},
	{"oarremoveresource", 2, "Usage: oarremoveresource", ""},
	{"oarremoveresource|1", 2, "Resource to remove: N\n", `/!\ The state of the resource 1 must be set to Dead before.`},
	{"oaraccounting", 0, "", ""},
	// Options without effect print a warning.
	{"oarsub|-k|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --use-job-key has no effect: there are no job keys."},
	{"oarsub|-i|key|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --import-job-key-from-file has no effect: there are no job keys."},
	{"oarsub|--import-job-key-inline|key|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --import-job-key-inline has no effect: there are no job keys."},
	{"oarsub|-e|key|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --export-job-key-to-file has no effect: there are no job keys."},
	{"oarsub|-v|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --verbose has no effect"},
	{"oarsub|--checkpoint|60|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --checkpoint and --signal have no effect"},
	{"oarsub|--signal|12|sleep 1", 0, "OAR_JOB_ID=N\n", "# Warning: --checkpoint and --signal have no effect"},
	{"oarsub|-S|./stagein.sh", 0, "OAR_JOB_ID=N\n", "# Warning: --stagein has no effect: the VM has the files of its image"},
	{"oarsub|--stagein|/tmp/x|sleep 1", 1, "", "Unknown option: stagein"},
	{"oarsub|-C|99999|-l|nodes=1", 20, "", "# Warning: --resource has no effect beside -C, which connects to a running job."},
	{"oarsub|-C|99999|sleep 1", 20, "", "# Warning: \"sleep 1\" is not run: -C connects to a running job."},
	{"oarstat|1", 1, "Usage: oarstat", ""},
	{"oarstat|-p|-J|-j|1", 1, "", "-p prints text only"},
	{"oarstat|--sql|1=1", 1, "", "Bad condition for --sql\n--sql:1:"},
	{"oarstat|--sql|nosuch = 'x'", 1, "", "Bad condition for --sql\n--sql:1:1: "},
	{"oarstat|--sql|job_user = 'zoe' OR state = 'Hold'", 0, "", ""},
	{"oarstat|--sql|job_user = 'zoe'|-J", 0, "{}\n", ""},
	{"oarstat|-X", 1, "", "XML is not offered"},
	{"oarstat|-J|-Y", 2, "", "-J, -Y, -D and -X exclude each other"},
	{"oardel|--sql|1=1", 1, "", "Bad condition for --sql"},
	{"oardel|--sql|project = 'none'", 0, "", `# Warning: no job matches "project = 'none'".`},
	{"oardel|--sql|state = 'Waiting'|1", 1, "Usage: oardel", "--sql names the jobs"},
	{"oardel|-c|-s|USR1|1", 1, "Usage: oardel", "-c and -s exclude each other"},
	{"oarhold|--sql|1=1", 1, "", "Bad condition for --sql"},
	{"oarhold|--sql|project = 'none'", 0, "", `# Warning: no job matches "project = 'none'".`},
	{"oarresume|--sql|1=1", 1, "", "Bad condition for --sql"},
	{"oarresume|--sql|project = 'none'", 0, "", `# Warning: no job matches "project = 'none'".`},
	{"oarnodes|-a|nosuch", 0, "", `/!\ No nodes to display...`},
	{"oarnodes|-s|-J|-r|1", 0, "{\n   \"node-N\": {\n      \"N\": \"Alive\"\n   }\n}\n", ""},
	{"oarnodes|-l|-J|-r|1", 0, "[\n   \"node-N\"\n]\n", ""},
	{"oarnodes|-e", 1, "", "Events of nodes are not offered here: use vjob events"},
	{"oarnodes|--sql|1=1", 1, "", "Bad condition for --sql"},
	{"oarnodes|-l|--sql|cluster = 'gdx' AND network_address = 'node-9'", 0, "node-N\n", ""},
	{"oarnodes|--sql|cluster = 'none'", 0, "", `/!\ No nodes to display...`},
	{"oarnodes|-X", 1, "", "XML is not offered"},
	{"oarnodesetting|-h|node-1|-s|Alive|-m|on", 1, "Usage: oarnodesetting", "-s, -m and -d exclude each other"},
	{"oarnodesetting|node-1|-s|Alive", 1, "Usage: oarnodesetting", `"node-1" is not read`},
	{"oarnodesetting|-h|node-1|-s|Dead", 1, "", "State Dead cannot be set"},
	{"oarnodesetting|--sql|1=1|-s|Alive", 1, "", "Bad condition for --sql"},
	{"oarnodesetting|--sql|cluster = 'none'|-s|Alive", 12, "", "/!\\ There are no resource for which"},
	{"oarnodesetting|--sql|cluster = 'gdx'|-s|Absent", 254, "", ""},
	{"oarnodesetting|-a|-h|n", 1, "", "Nodes and their properties are in the settings of vjobd"},
	{"oarnodesetting|-f|file", 1, "", "Nodes and their properties are in the settings of vjobd"},
	{"oarnodesetting|--last-property-value|core", 1, "", "Nodes and their properties are in the settings of vjobd"},
	{"oarproperty|-a|gpu", 255, "", "Properties are labels of nodes"},
	{"oarproperty|-l|gpu", 1, "Usage: oarproperty", `"gpu" is not read`},
	{"oarqueue|-e|default", 8, "", "You must be oar or root"},
	{"oarqueue|--add-queue|x,1,y", 8, "", "You must be oar or root"},
	{"oarqueue|default", 1, "Usage: oarqueue", `"default" is not read`},
	{"oaraccounting|--reinitialize", 0, "", "# Nothing to do"},
	{"oaraccounting|--delete-before|60", 1, "", "Not offered: retention"},
	{"oaraccounting|now", 1, "Usage: oaraccounting", `"now" is not read`},
	{"oarmonitor", 1, "", "oarmonitor: there is no such command: want one of sub, stat,"},
	{"oarconnect|99999", 20, "", "# Error: job 99999"},
	{"oarconnect|x", 1, "", `Value "x" invalid for option connect (number expected)`},
	{"oarconnect|1|2", 1, "Usage: oarconnect", ""},
	{"oarprint|core", 255, "", "oarprint: no input data available"},
	{"oarprint|-f|nofile|core", 2, "", "oarprint: open nofile: no such file or directory"},
	{"oarprint|-f|resources", 255, "", "oarprint: Need a property name"},
	{"oarprint|-f|resources|-l", 0, "List of properties:\nnetwork_address, host, cpuset\n", ""},
	{"oarprint|-f|resources|host", 0, "vjob-N-N\nvjob-N-N\n", ""},
	{"oarprint|-f|resources|host|-P|host,cpuset|-F|%:%|-C|+", 0, "vjob-N-N:N+N\nvjob-N-N:N\n", ""},
	{"oarprint|-f|resources|gpu", 255, "", "oarprint: Unknown property 'gpu'"},
	{"oarprint|-f|one.txt|host", 255, "", `oarprint: one.txt:1: "1" is no property`},
	{"oarprint|-j|99999|host", 1, "", "# Error: there is no job 99999"},
	{"oarprint|-j|x|host", 1, "", `Value "x" invalid for option j (number expected)`},
	{"oarprint|-f|resources|-j|1|host", 1, "Usage: oarprint", "-f and -j exclude each other"},
	{"oarprint|-x", 1, "", "Unknown option: x"},
	{"oarsh", 7, "", "oarsh: cannot retrieve host"},
	{"oarsh|-h", 0, "Usage: oarsh", ""},
	{"oarsh|-z|node-1", 7, "", "oarsh: unknown option -z"},
	{"oarsh|-p", 7, "", "oarsh: option -p requires a value"},
	{"oarsh|node-1", 6, "", "oarsh: Cannot connect. Please set a job id in your\n"},
	{"oarcp", 0, "Usage: oarcp", ""},
}

// Command lines beyond the recorded cases get consistent answers.
func TestSiblings(t *testing.T) {
	x := open(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"one.txt": "1\n", "params.txt": "1\n2\n", "comments.txt": "# first\n\n1 a\n  \n2 b # why\n", "only-comments.txt": "# nothing\n\n", "stagein.sh": "#!/bin/sh\n#OAR --stagein data.tar\ntrue\n",
		"resources": "network_address = 'vjob-7-0' , host = 'vjob-7-0' , cpuset = '0'\nnetwork_address = 'vjob-7-0' , host = 'vjob-7-0' , cpuset = '1'\nnetwork_address = 'vjob-7-1' , host = 'vjob-7-1' , cpuset = '0'\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.until(x.sub("bob", "sleep 1000000"), "Running")
	for i, s := range siblings {
		t.Run(fmt.Sprintf("%03d %s", i, s.line), func(t *testing.T) {
			words := strings.Split(s.line, "|")
			r := x.run("alice", words[0], words[1:]...)
			if r.code != s.exit {
				t.Errorf("exit %d, want %d", r.code, s.exit)
			}
			switch out := digits.ReplaceAllString(withoutRules(r.out), "N"); {
			case strings.HasPrefix(s.out, "Usage: ") && strings.HasPrefix(out, s.out):
			case out != s.out:
				t.Errorf("printed %q, want %q", out, s.out)
			}
			if !strings.HasPrefix(r.err, s.err) {
				t.Errorf("told %q, want %q", r.err, s.err)
			}
		})
	}
}
