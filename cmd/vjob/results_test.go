package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// file writes a vjob file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vjob.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// job is what show -o json prints.
func (s *shell) job(name string) wire.VJobDetail {
	s.t.Helper()
	var j wire.VJobDetail
	if err := json.Unmarshal([]byte(s.ok("show", "-o", "json", name)), &j); err != nil {
		s.t.Fatal(err)
	}
	return j
}

// Work that fails makes its vjob fail, wherever that is shown, and for those that depend on it.
func TestExitStatus(t *testing.T) {
	s, _ := live(t)
	bad := file(t, "name: bad\nvms:\n- {cpu: 0.5, memory: 256MiB, work: 1s@0.5}\n- {cpu: 0.5, memory: 256MiB, work: 1s@0.5, exit_code: 3}\n")
	s.ok("submit", "--name", "onok", "--hold", "--steps", "1s@1") // only a name that is known later is no name
	r := s.run("submit", bad, "--wait")
	if want := "vjob 2 has failed: the work of VM 2.1 ended with exit code 3"; r.code != 3 || !strings.Contains(r.err, want) {
		t.Errorf("exit code %d, want 3: %s, want %s", r.code, r.err, want)
	}
	if r := s.run("wait", "bad"); r.code != 3 {
		t.Errorf("wait: exit code %d, want 3: %s", r.code, r.err)
	}
	j := s.job("bad")
	if j.State != "failed" || j.Outcome != "failed" || j.ExitStatus != "3:0" || j.VMs[0].ExitStatus != "0:0" || j.VMs[1].ExitStatus != "3:0" {
		t.Errorf("%s, %s, %q of %q and %q", j.State, j.Outcome, j.ExitStatus, j.VMs[0].ExitStatus, j.VMs[1].ExitStatus)
	}
	for _, want := range []string{"failed, exit status 3:0", "ended 0:0", "ended 3:0", "the work of VM 2.1 ended with exit code 3"} {
		if out := s.ok("show", "bad"); !strings.Contains(out, want) {
			t.Errorf("show lacks %q:\n%s", want, out)
		}
	}
	if out := s.ok("events", "--vjob", "2"); !strings.Contains(out, "vjob 2 has failed: the work of VM 2.1 ended with exit code 3") {
		t.Errorf("events:\n%s", out)
	}
	r = s.run("submit", "--name", "next", "--after", "ok:bad", "--steps", "1s@1", "--wait")
	if want := "vjob 2, for which it waits to end well, has failed with exit status 3:0"; r.code != cli.ExitInternal || !strings.Contains(r.err, want) {
		t.Errorf("after a failure: %d: %s, want %s", r.code, r.err, want)
	}
	s.ok("submit", "--name", "cleanup", "--after", "notok:bad", "--after", "any:2", "--steps", "1s@1", "--wait")
	s.fails(cli.ExitInput, `after[0].name: "nothing" is not the name of a vjob of yours`, "submit", "--after", "ok:nothing", "--steps", "1s@1")
	s.fails(cli.ExitInput, "a condition (ok, notok, any or started)", "submit", "--after", "perhaps:bad", "--steps", "1s@1")

	lenient := file(t, "name: lenient\nsuccess: any\nvms:\n- {cpu: 0.5, memory: 256MiB, work: 1s@0.5}\n- {cpu: 0.5, memory: 256MiB, work: 1s@0.5, exit_code: 3}\n")
	s.ok("submit", lenient, "--wait")
	if j := s.job("lenient"); j.Outcome != "completed" || j.ExitStatus != "0:0" || j.VMs[1].ExitStatus != "3:0" {
		t.Errorf("%s, %q", j.Outcome, j.ExitStatus)
	}
}

// Each vjob of an array waits for the one of another array that has its index.
func TestAfterEach(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "first", "--array", "2", "--steps", "1s@1", "--hold")
	s.fails(cli.ExitInput, "after[0].each: array 1 has 2 vjobs, this submission has 3", "submit", "--array", "3", "--after", "ok:first[i]", "--steps", "1s@1")
	s.fails(cli.ExitInput, "after[0].each: array 1 has 2 vjobs, this submission has 1", "submit", "--after", "ok:first[i]", "--steps", "1s@1")
	s.ok("submit", "--name", "second", "--array", "2", "--after", "ok:first[i]", "--steps", "1s@1")
	s.waitFor("for vjob 1 to end well", "show", "second[1]")
	s.waitFor("for vjob 2 to end well", "show", "second[2]")
	s.ok("release", "2")
	s.waitFor("terminated", "list", "--all", "--name", "second[2]")
	if j := s.job("second[1]"); j.State != "waiting" {
		t.Errorf("second[1] is %s, though vjob 1 is held", j.State)
	}
}

// A vjob is submitted again by one command, or from its file.
func TestResubmit(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "sim", "--vms", "2", "--cpu", "0.5", "--mem", "256MiB", "--walltime", "1:00:00", "--label", "case=7", "--env", "MODE=fast now",
		"--spread", "--comment", "the 1st: #7", "--steps", "1s@0.5,2s@0.25", "--wait")
	again := s.ok("show", "--file", "sim")
	for _, want := range []string{"name: sim\n", "walltime: 1:00:00\n", "count: 2\n", "  cpu: 0.5\n", "case: \"7\"\n", "MODE: fast now\n", "continuous spread($VMS)"} {
		if !strings.Contains(again, want) {
			t.Errorf("the file lacks %q:\n%s", want, again)
		}
	}
	if out := s.ok("resubmit", "sim"); out != "2\n" {
		t.Errorf("printed %q", out)
	}
	s.fails(cli.ExitConflict, "sim", "resubmit", "1") // the name is taken
	s.ok("wait", "2")
	s.ok("submit", file(t, again), "--wait")
	first, last := s.job("1"), s.job("3")
	if last.Rules != first.Rules || last.WalltimeSeconds != first.WalltimeSeconds || last.Comment != first.Comment || last.VMCount != 2 || last.CPUMilli != first.CPUMilli {
		t.Errorf("%+v\nis not as\n%+v", last.VJob, first.VJob)
	}
	if third := s.ok("show", "--file", "3"); third != again {
		t.Errorf("the file of its copy is\n%s\nwant\n%s", third, again)
	}
	s.ok("submit", "--name", "sweep", "--array-file", file(t, "a=1\na=2 'b c'\n"), "--steps", "1s@1", "--wait")
	if out := s.ok("resubmit", "--array", "sweep[2]"); out != "6\n" {
		t.Errorf("printed %q", out)
	}
	if j := s.job("sweep[2]"); j.ID != 7 || j.Parameter != "a=2 'b c'" {
		t.Errorf("%+v", j.VJob)
	}
}

// A script has its flags in its head; those of the command line take precedence.
func TestScripts(t *testing.T) {
	s, _ := live(t)
	script := func(head string) string { return file(t, "#!/bin/sh\n"+head+"\necho hello\n") }
	s.ok("submit", script("#VJOB --name sim --vms 2 --cpu 0.5 --mem 256MiB --walltime 1:00:00 --hold\n#VJOB --label case=7 --env MODE=fast"), "--walltime", "2:00:00", "--label", "mine=1")
	j := s.job("sim")
	if j.VMCount != 2 || j.CPUMilli != 1000 || j.WalltimeSeconds != 7200 || !j.Held || fmt.Sprint(j.Terms.Labels) != "map[mine:1]" {
		t.Errorf("%+v", j.VJob)
	}
	if out := s.ok("show", "sim"); !strings.Contains(out, "script     #!/bin/sh") || !strings.Contains(out, "variable   MODE=fast") {
		t.Errorf("show:\n%s", out)
	}
	r := s.run("submit", script("#SBATCH -J batch -N 2 -c 1 --mem=256M -t 10\n#SBATCH --gres=gpu:1"), "--hold")
	if r.code != 0 || !strings.Contains(r.err, "vjob.yaml:3: --gres: not supported, ignored") {
		t.Errorf("%+v", r)
	}
	again := s.ok("show", "--file", "batch")
	for _, want := range []string{"led: true", "walltime: 0:10:00", "    script: |", "SLURM_JOB_ID", "      - sleep\n"} {
		if !strings.Contains(again, want) {
			t.Errorf("lacks %q:\n%s", want, again)
		}
	}
	s.ok("submit", script("#OAR -l nodes=2/core=1,walltime=0:20:0 -n grid"), "--hold", "--mem", "256MiB")
	if j := s.job("grid"); j.VMCount != 2 || j.WalltimeSeconds != 1200 || !j.Terms.LeaderEnds {
		t.Errorf("%+v", j.VJob)
	}
	s.fails(cli.ExitInput, `vjob.yaml:2: --cpu: "many"`, "submit", script("#VJOB --cpu many"))
	s.fails(cli.ExitInput, `vjob.yaml:2: --vms: "many"`, "submit", script("#VJOB --vms many"))
	s.fails(cli.ExitInput, `vjob.yaml:3: --after: "perhaps:7"`, "submit", script("#VJOB --vms 1\n#VJOB --after perhaps:7"))
	s.fails(cli.ExitInput, `vjob.yaml:2: #VJOB: "--vmz" is not a flag of vjob submit`, "submit", script("#VJOB --vmz 4"))
	s.fails(cli.ExitInput, "two scripts given", "submit", script(""), "--script", script(""))
}
