package oar_test

import (
	"os"
	"strings"
	"testing"
)

// oarwalltime shows and changes the walltime of a running job: users take time away, administrators also add it.
func TestWalltime(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "core=1,walltime=100", "sleep 1000000")
	x.until(id, "Running")
	status := func(walltime, granted string) string {
		return "Walltime change status for job " + id + " (job is running):\n  Current walltime: " + walltime + "\n  Possible increase:      0:0:0\n  Already granted: " + granted + "\n  Pending/unsatisfied:    0:0:0\n"
	}
	accepted := func(word string) string {
		return "Accepted: walltime change request " + word + " for job " + id + ", it will be handled shortly.\n"
	}
	for _, c := range []struct {
		user, line string
		exit       int
		out, err   string // of err: the beginning
	}{
		{"alice", "", 0, status("    100:0:0", "       0:0:0"), ""},
		{"alice", "+1:00", 3, "", "Forbidden: request cannot be accepted because the walltime cannot increase by more than 0:0:0"},
		{"alice", "101", 3, "", "Forbidden: request cannot be accepted"},
		{"alice", "+1 --delay-next-jobs", 3, "", "Forbidden: walltime change for this job is not allowed to delay other jobs."},
		{"alice", "+0", 1, "", "Bad request: walltime change is null."},
		{"alice", "100:0", 1, "", "Bad request: walltime change is null."},
		{"alice", "-- -1:30", 0, accepted("accepted"), ""},
		{"alice", "", 0, status("    98:30:0", "     -1:30:0"), ""},
		{"alice", "98:0:0 --force", 0, accepted("updated"), ""},
		{"bob", "1", 4, "", "Not found: could not find job " + id + "."},
		{"root", "+4:0:0", 0, accepted("updated"), "# Warning: jobs that wait may start later"},
		{"root", "+1 --delay-next-jobs --whole --timeout 60", 0, accepted("updated"), ""},
		{"alice", "", 0, status("    103:0:0", "      +3:0:0"), ""},
	} {
		r := x.run(c.user, "oarwalltime", append([]string{id}, strings.Fields(c.line)...)...)
		if r.code != c.exit || r.out != c.out || !strings.HasPrefix(r.err, c.err) || c.err == "" && r.err != "" {
			t.Errorf("%s: oarwalltime %s %s: %+v, want\n%s%s", c.user, id, c.line, r, c.out, c.err)
		}
	}
	if r := x.run("root", "oarwalltime", id); !strings.Contains(r.out, "Possible increase:  UNLIMITED\n") {
		t.Errorf("an administrator: %+v", r)
	}
	waits := x.sub("alice", "-l", "nodes=16", "sleep 1")
	if r := x.run("alice", "oarwalltime", waits); r.out != "Walltime change status for job "+waits+" (job is not running yet):\n  N/A\n" {
		t.Errorf("a waiting job: %+v", r)
	}
	// Less than has run already ends the job.
	if r := x.run("alice", "oarwalltime", id, "--", "-200"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	x.until(id, "Terminated")
	if r := x.run("alice", "oarwalltime", id); r.code != 0 || !strings.Contains(r.out, "(job is not running):\n  Walltime: ") {
		t.Errorf("an ended job: %+v", r)
	}
}

// As in OAR, a script without execution bit is accepted, and ends with 126.
func TestModeOfScript(t *testing.T) {
	x := open(t)
	t.Chdir(t.TempDir())
	for name, mode := range map[string]os.FileMode{"./plain.sh": 0o644, "./good.sh": 0o755} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n#OAR -n script\nexit 4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, says, code string }{
		{"./plain.sh", "# Warning: ./plain.sh has no execution bit: the job will end with exit code 126, Permission denied. chmod +x ./plain.sh\n", "32256 (126,0,0)"},
		{"./good.sh", "", "1024 (4,0,0)"},
	} {
		r := x.run("alice", "oarsub", "-S", c.file)
		found := jobNumber.FindStringSubmatch(r.out)
		if r.code != 0 || found == nil || !strings.HasPrefix(r.err, c.says) {
			t.Fatalf("%s: %+v", c.file, r)
		}
		x.until(found[1], "Terminated")
		if full := x.run("alice", "oarstat", "-f", "-j", found[1]).out; !strings.Contains(full, "exit_code = "+c.code) || !strings.Contains(full, "command = "+c.file+"\n") || !strings.Contains(full, "name = script\n") {
			t.Errorf("%s: want %s in\n%s", c.file, c.code, full)
		}
	}
}

// --sql selects jobs by the columns of OAR's table of jobs.
func TestConditions(t *testing.T) {
	x := open(t)
	one := x.sub("alice", "--hold", "-n", "keep", "sleep 1")
	two := x.sub("alice", "--hold", "-n", "drop", "sleep 1")
	x.sub("bob", "--hold", "-n", "drop", "sleep 1")
	if r := x.run("alice", "oardel", "--sql", "job_name = 'drop' AND state = 'Hold'"); r.code != 0 || !strings.HasSuffix(r.out, "The job(s) [ "+two+" ] will be deleted in the near future.\n") {
		t.Errorf("oardel: %+v", r)
	}
	x.until(two, "Error")
	if r := x.run("alice", "oarstat", "-s", "--sql", "job_name LIKE 'k%'"); r.code != 1 {
		t.Errorf("-s: %+v", r)
	}
	if r := x.run("alice", "oarstat", "--sql", "state IN ('Error', 'Terminated')"); strings.Contains(r.out, "\n"+one+" ") || !strings.Contains(r.out, "\n"+two+" ") || strings.Contains(r.out, "bob") {
		t.Errorf("oarstat: %+v", r)
	}
	if r := x.run("alice", "oarstat", "-J", "--sql", "job_id = "+one); !strings.HasPrefix(r.out, "{\n   \""+one+"\" : {") {
		t.Errorf("-J: %+v", r)
	}
	if r := x.run("alice", "oarresume", "--sql", "state = 'Hold'"); r.code != 0 || r.out != "["+one+"] Resume request was sent to the OAR server.\n" {
		t.Errorf("oarresume: %+v", r)
	}
	x.until(one, "Terminated")
}
