package oar_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/daemon/output/writer"
	"vjob/daemon/settings"
)

func TestMain(m *testing.M) {
	writer.Main()
	os.Exit(m.Run())
}

// fileOf returns the value of a line of `oarstat -f`, such as stdout_file.
func (x *site) fileOf(id, key string) string {
	for line := range strings.Lines(x.run("root", "oarstat", "-f", "-j", id).out) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " = "); name == key {
			return value
		}
	}
	return ""
}

// Output goes to the files of -O and -E, by default to those of OAR, below the folder of the user, and oarstat names
// them. What cannot be such a file is a warning.
func TestOutputFiles(t *testing.T) {
	base := t.TempDir()
	x := open(t, func(s *settings.Settings) { s.Output.Directory = base })
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(base, me.Username)
	for _, tt := range []struct {
		line             []string
		stdout, stderr   string // with # for the number of the job; "" for none
		warning          string
		contents, errors string
	}{
		{[]string{"-n", "hi", "echo out; echo err >&2"}, "OAR.hi.#.stdout", "OAR.hi.#.stderr", "", "out\n", "err\n"},
		{[]string{"-n", "50%", "echo out"}, "OAR.50%.#.stdout", "OAR.50%.#.stderr", "", "out\n", ""},
		{[]string{"-O", "a/%jobid%.out", "-E", "a/%jobid%.out", "echo out; echo err >&2"}, "a/#.out", "a/#.out", "", "out\nerr\n", "out\nerr\n"},
		{[]string{"-O", folder + "/b.%jobid%", "-E", "e.%jobname%.%jobid%", "-n", "n/m", "echo out"}, "b.#", "e.n/m.#", "", "out\n", ""},
		{[]string{"-d", folder + "/c", "-O", "../d.%jobid%", "echo out"}, "d.#", "c/OAR.#.stderr", "", "out\n", ""},
		{[]string{"-O", "run.out", "echo out"}, "run-#.out", "OAR.#.stderr", "stdout: run.out becomes run-%j.out, each job has a file of its own", "out\n", ""},
		{
			[]string{"-O", "/tmp/%jobid%", "echo out"},
			"", "OAR.#.stderr",
			"stdout: /tmp/%jobid% is not below " + folder + ", where your output files are kept: name a file there, or leave out the directory; only a VM that has the directory writes the file", "", "",
		},
		{[]string{"-E", ".profile", "echo out"}, "OAR.#.stdout", "OAR.#.stdout", "stderr: .profile has a name that begins with a dot", "out\n", "out\n"},
	} {
		r := x.run("root", "oarsub", tt.line...)
		found := jobNumber.FindStringSubmatch(r.out)
		if r.code != 0 || found == nil || !strings.HasPrefix(r.err, "# Warning: "+tt.warning) && tt.warning != "" || tt.warning == "" && r.err != "" {
			t.Errorf("%q: exit %d: %s%s, want the warning %q", tt.line, r.code, r.out, r.err, tt.warning)
			continue
		}
		x.until(found[1], "Terminated")
		for key, want := range map[string][2]string{"stdout_file": {tt.stdout, tt.contents}, "stderr_file": {tt.stderr, tt.errors}} {
			got := x.fileOf(found[1], key)
			if want[0] != "" {
				want[0] = filepath.Join(folder, strings.ReplaceAll(want[0], "#", found[1]))
			}
			if got != want[0] {
				t.Errorf("%q: %s = %s, want %s", tt.line, key, got, want[0])
			} else if want[1] != "" {
				x.untilFile(got, want[1])
			}
		}
	}
	if r := x.run("alice", "oarsub", "-O", "o.%jobid%", "true"); r.code != 0 || !strings.Contains(r.err, "stdout: the account alice has no local user") {
		t.Errorf("without a local user: exit %d: %s", r.code, r.err)
	}
	if r := x.run("alice", "oarsub", "true"); r.code != 0 || r.err != "" {
		t.Errorf("without a local user and without names: exit %d: %s", r.code, r.err)
	}
}

// untilFile waits until a file has a text.
func (x *site) untilFile(path, want string) {
	x.tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(path)
		if string(text) == want {
			return
		}
		if time.Now().After(deadline) {
			x.tb.Errorf("%s: %q, %v, want %q", path, text, err, want)
			return
		}
	}
}

// A site that keeps no output names no files, and warns users that name some.
func TestNoOutputFiles(t *testing.T) {
	x := open(t)
	r := x.run("root", "oarsub", "-O", "o.%jobid%", "true")
	if r.code != 0 || !strings.HasPrefix(r.err, "# Warning: stdout: this site keeps no output files, vjob logs prints the output") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if id := x.sub("root", "true"); x.fileOf(id, "stdout_file")+x.fileOf(id, "stderr_file") != "" {
		t.Errorf("oarstat names %s", x.fileOf(id, "stdout_file"))
	}
}
