package launch_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/oar/launch"
	"vjob/oar/resource"
	"vjob/tests/pty"
)

// ran is the result of a job that a shell has run.
type ran struct {
	out, err string
	exit     int
	dir      string // directory of the start script
}

// run runs the script of a first VM as vjob 12, with additional variables.
func run(t *testing.T, script string, env ...string) ran {
	t.Helper()
	r := ran{dir: t.TempDir()}
	c := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	c.Env = append([]string{"PATH=/bin:/usr/bin", "VJOB_ID=12", "VJOB_RANK=0", "VJOB_DIR=" + r.dir, "VJOB_LINE=/nowhere"}, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	r.exit, r.out, r.err = c.ProcessState.ExitCode(), out.String(), errs.String()
	return r
}

// A job has OAR's variables, and the file of nodes has a line for each core.
func TestVariables(t *testing.T) {
	j := launch.Job{
		Command: `echo "$OAR_JOB_ID $OAR_JOBID $OAR_ARRAY_ID $OAR_ARRAY_INDEX $OAR_JOB_NAME $OAR_PROJECT_NAME $OAR_USER $OAR_WORKDIR $OAR_JOB_WALLTIME $OAR_JOB_WALLTIME_SECONDS $OAR_STDOUT"; cat "$OAR_NODEFILE"; wc -l <"$OAR_FILE_NODES"; grep -c "host = 'vjob-12-2'" "$OAR_RESOURCE_PROPERTIES_FILE"`,
		Name:    "it's", Project: "", User: "ann", Directory: "/nowhere/at all", Stdout: launch.File{Name: "out.%jobname%.%jobid%"}, Walltime: 90 * time.Minute,
		CPUs: []cluster.MilliCPU{2000, 2000, 500},
	}
	want := "12 12 12 1 it's default ann /nowhere/at all 1:30:0 5400 /nowhere/at all/out.it's.12\nvjob-12-0\nvjob-12-0\nvjob-12-1\nvjob-12-1\nvjob-12-2\n5\n1\n"
	if r := run(t, j.First()); r.out != want || r.exit != 0 {
		t.Errorf("exit %d:\n%s\nwant\n%s%s", r.exit, r.out, want, r.err)
	}
	r := run(t, (&launch.Job{Command: "echo $OAR_ARRAY_ID $OAR_ARRAY_INDEX $OAR_JOB_INDEX", CPUs: j.CPUs}).First(), "VJOB_ARRAY_ID=10", "VJOB_ARRAY_INDEX=3", "VJOB_PARAMETER=a 'b  c'")
	if r.out != "10 3 3 a b  c\n" {
		t.Errorf("%q %s", r.out, r.err)
	}
}

// The file of resources is what the daemon's side lists, without the nodes.
func TestResources(t *testing.T) {
	j := launch.Job{Command: `cat "$OAR_RESOURCE_PROPERTIES_FILE"`, CPUs: []cluster.MilliCPU{2000, 500, 1000}}
	want := ""
	for _, r := range resource.Of(12, []resource.VM{{CPU: 2000}, {CPU: 500}, {CPU: 1000}}) {
		want += r.String() + "\n"
	}
	if r := run(t, j.First()); r.out != want {
		t.Errorf("%s\nwant\n%s%s", r.out, want, r.err)
	}
}

// The exit code is that of the command, however it ends.
func TestExit(t *testing.T) {
	dir := t.TempDir()
	for _, directory := range []string{"", dir} {
		for command, want := range map[string]int{
			"true": 0, "false": 1, "exit 99": 99, "kill -9 $$": 137, "nosuchprogram 2>/dev/null": 127, "if": 2, "exec false": 1, "set -e; false; exit 3": 1,
		} {
			r := run(t, (&launch.Job{Command: command, Directory: directory, Stdout: launch.File{Name: "o"}, Stderr: launch.File{Name: "e"}, CPUs: []cluster.MilliCPU{1000}}).First())
			if r.exit != want {
				t.Errorf("%q in %q: exit %d, want %d: %s%s", command, directory, r.exit, want, r.out, r.err)
			}
		}
	}
}

// If the directory exists, output and errors also go to their files.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	j := launch.Job{Command: "pwd; echo oops >&2; exit 4", Directory: dir, Stdout: launch.File{Name: "x.%jobid%.out"}, Stderr: launch.File{Name: filepath.Join(dir, "y.%jobid%.err")}, CPUs: []cluster.MilliCPU{1000}}
	r := run(t, j.First())
	if r.out != dir+"\n" || r.err != "oops\n" || r.exit != 4 {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{"x.12.out": dir + "\n", "y.12.err": "oops\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	j.Stdout = launch.File{Name: "kept.out", Kept: true} // the daemon writes it
	if r := run(t, j.First()); r.out != dir+"\n" || r.err != "oops\n" || r.exit != 4 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "kept.out")); err == nil {
		t.Error("the VM writes a file that the daemon keeps")
	}
}

// The interpreter of a script runs it as a file, with its arguments; ScriptOf returns it.
func TestScript(t *testing.T) {
	text := "#!/usr/bin/env -S sh -e\nprintf '<%s>' \"$@\"\necho \"$0\"\nOAR_END_OF_SCRIPT\n"
	j := launch.Job{Script: text, Command: `./job.sh "a b" '$HOME'`, CPUs: []cluster.MilliCPU{1000}}
	r := run(t, j.First(), "VJOB_PARAMETER=7")
	if !strings.HasPrefix(r.out, "<a b><$HOME><7>"+r.dir+"/oar/script\n") || r.exit != 127 {
		t.Errorf("%+v", r)
	}
	if got, ok := launch.ScriptOf(j.First()); !ok || got != text {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := launch.ScriptOf((&launch.Job{Command: "x"}).First()); ok {
		t.Errorf("a command has the script %q", got)
	}
}

// An interactive job in a VM without a second line waits until it is ended.
func TestShell(t *testing.T) {
	j := launch.Job{Interactive: true, CPUs: []cluster.MilliCPU{1000}}
	if r := run(t, strings.Replace(j.First(), "while :; do sleep 86400; done", "echo no line", 1), "VJOB_LINE=/nowhere"); r.out != "no line\n" {
		t.Errorf("%+v", r)
	}
}

// The second line is the controlling terminal of its shell, both in an interactive job and beside a
// command. The command runs until it ends itself.
func TestLine(t *testing.T) {
	size := map[bool]string{true: "50 132", false: "0 0"} // the size of a terminal beside a command is unknown
	beside := `while [ ! -e "$VJOB_DIR/done" ]; do sleep 0.01; done; exit 3`
	for name, j := range map[string]launch.Job{
		"0": {Interactive: true, Rows: 50, Columns: 132, CPUs: []cluster.MilliCPU{1000}},
		"3": {Command: beside, CPUs: []cluster.MilliCPU{1000}},
	} {
		user, line := pty.Open(t)
		if _, err := user.WriteString(`(: >/dev/tty) && echo "has"-a-terminal "$HOME" $(stty size); touch "$VJOB_DIR/done"; exit` + "\n"); err != nil {
			t.Fatal(err)
		}
		shown := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(user) // ends with an error when the other end is closed
			shown <- string(all)
		}()
		r := run(t, j.First(), "VJOB_LINE="+line, "SHELL=/bin/sh")
		if fmt.Sprint(r.exit) != name {
			t.Errorf("%+v", r)
		}
		if text := <-shown; !strings.Contains(text, "has-a-terminal /root "+size[j.Interactive]) {
			t.Errorf("shown: %q", text)
		}
	}
}

// Commands, scripts and names cannot break out of their quotes.
func FuzzStarter(f *testing.F) {
	f.Add("echo a", "#!/bin/sh\ntrue", "n'$(touch hacked)", "/tmp/'; touch hacked; '")
	f.Add("'", "OAR_END_OF_SCRIPT\nOAR_END_OF_SCRIPT_", "`x`", "$(x)")
	f.Fuzz(func(t *testing.T, command, script, name, directory string) {
		clean := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r < ' ' && r != '\n' && r != '\t' {
					return -1
				}
				return r
			}, strings.ToValidUTF8(s, "?"))
		}
		j := launch.Job{Command: clean(command), Script: clean(script), Name: clean(name), Directory: clean(directory), CPUs: []cluster.MilliCPU{1000}}
		first := j.First()
		if got, ok := launch.ScriptOf(first); j.Script != "" && (!ok || got != strings.TrimSuffix(j.Script, "\n")+"\n") {
			t.Fatalf("the script %q came back as %q", j.Script, got)
		}
		// A shell that only parses the script finds every quote closed.
		c := exec.CommandContext(t.Context(), "/bin/sh", "-n", "-c", first)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%s", first, out)
		}
	})
}
