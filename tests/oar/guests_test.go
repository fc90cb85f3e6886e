package oar_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oarsh and oarcp connect with the VMs of a job: outside by OAR_JOB_ID and the daemon, by names of guests and
// nodes; inside by the file of nodes alone.
func TestShells(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "nodes=2/core=1", "sleep 1000000")
	x.until(id, "Running")
	var ran []string
	status := 0
	x.exec = func(_ context.Context, words []string) (int, error) {
		ran = words
		return status, nil
	}
	nodefile := filepath.Join(t.TempDir(), "nodes")
	if err := os.WriteFile(nodefile, []byte("vjob-7-0\nvjob-7-0\nvjob-7-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const ssh = "ssh|%|-o|StrictHostKeyChecking=accept-new|--|"
	node := strings.TrimSpace(x.run("alice", "oarprint", "-j", id, "-P", "node", "core").out)
	first, second, _ := strings.Cut(node, "\n")
	outside := map[string]string{"OAR_JOB_ID": id}
	inside := map[string]string{"OAR_NODEFILE": nodefile, "OAR_JOB_ID": "7"}
	for _, c := range []struct {
		env        map[string]string
		user, line string
		exit       int
		want, says string // words of the other program, or the beginning of the message
	}{
		{outside, "alice", "vjob-ID-1|hostname", 0, strings.Replace(ssh, "%|", "", 1) + "vjob-ID-1|hostname", ""},
		{outside, "alice", "-t|-p|22|root@vjob-ID-0|-v|--|ls|-l", 0, strings.Replace(ssh, "%", "-t|-p|22|-v", 1) + "root@vjob-ID-0|ls|-l", ""},
		{outside, "alice", "-x|-oPermitLocalCommand=no|-l|ann|-s|--|vjob-ID-0|sftp", 0, strings.Replace(ssh, "%", "-x|-oPermitLocalCommand=no|-l|ann|-s", 1) + "vjob-ID-0|sftp", ""},
		{outside, "alice", second + "|id", 0, strings.Replace(ssh, "%|", "", 1) + "vjob-ID-1|id", ""},
		{outside, "alice", first + "|id", 0, strings.Replace(ssh, "%|", "", 1) + "vjob-ID-0|id", ""},
		{outside, "alice", "vjob-9-0|id", 5, "", "oarsh: vjob-9-0 is no VM of the job: want one of vjob-ID-0, vjob-ID-1"},
		{outside, "bob", "vjob-ID-0|id", 5, "", "oarsh: Permission denied, seems like job ID is not yours."},
		{map[string]string{"OAR_JOB_ID": "x"}, "alice", "vjob-ID-0", 5, "", "oarsh: Invalid job id: x"},
		{map[string]string{"OAR_JOB_ID": id, "VJOB_CONNECT": "rsh -n {user}@{guest}"}, "alice", "-q|ann@vjob-ID-1|id", 0, "rsh|-q|-n|ann@vjob-ID-1|id", ""},
		{inside, "alice", "vjob-7-1|id", 0, strings.Replace(ssh, "%|", "", 1) + "vjob-7-1|id", ""},
		{inside, "alice", "vjob-7-1.example.org|id", 0, strings.Replace(ssh, "%|", "", 1) + "vjob-7-1.example.org|id", ""},
		{inside, "alice", "node-1", 5, "", "oarsh: node-1 is no VM of the job: want one of vjob-7-0, vjob-7-1"},
		{map[string]string{"OAR_NODEFILE": "/nowhere/nodes"}, "alice", "vjob-7-1", 5, "", "oarsh: OAR_NODEFILE: open /nowhere/nodes"},
	} {
		fill := strings.NewReplacer("ID", id)
		x.env, ran = c.env, nil
		r := x.run(c.user, "oarsh", strings.Split(fill.Replace(c.line), "|")...)
		if r.code != c.exit || strings.Join(ran, "|") != fill.Replace(c.want) || !strings.HasPrefix(r.err, fill.Replace(c.says)) {
			t.Errorf("oarsh %s: exit %d, ran %q, said %q", c.line, r.code, ran, r.err)
		}
	}
	x.env, status = outside, 255
	if r := x.run("alice", "oarsh", "vjob-"+id+"-0"); r.code != 255 || !strings.Contains(r.err, "oarsub -C "+id+" and vjob console "+id) {
		t.Errorf("no connection: %+v", r)
	}
	status = 3
	if r := x.run("alice", "oarcp", "-r", "a", "vjob-"+id+"-0:/tmp"); r.code != 3 || !slices.Equal(ran, []string{"scp", "-S", "/usr/bin/oarsh", "-r", "a", "vjob-" + id + "-0:/tmp"}) {
		t.Errorf("oarcp: %+v ran %q", r, ran)
	}
}

// oarprint prints the processors of a job from the daemon, from what oarstat -p prints, and inside from the file.
func TestPrintedResources(t *testing.T) {
	x := open(t)
	id := x.sub("alice", "-l", "nodes=2/core=2", "sleep 1000000")
	x.until(id, "Running")
	want := strings.ReplaceAll("vjob-ID-0/0\nvjob-ID-0/1\nvjob-ID-1/0\nvjob-ID-1/1\n", "ID", id)
	format := []string{"core", "-P", "host,cpuset", "-F", "%/%"}
	byJob := x.run("alice", "oarprint", slices.Concat(format, []string{"-j", id})...)
	x.env["OAR_JOB_ID"] = id
	byEnvironment := x.run("alice", "oarprint", format...)
	x.input = x.run("alice", "oarstat", "-p", "-j").out
	byInput := x.run("alice", "oarprint", slices.Concat(format, []string{"-f", "-"})...)
	file := filepath.Join(t.TempDir(), "resources")
	if err := os.WriteFile(file, []byte(x.input), 0o600); err != nil {
		t.Fatal(err)
	}
	x.env["OAR_RESOURCE_PROPERTIES_FILE"] = file
	byFile := x.run("bob", "oarprint", format...)
	for name, r := range map[string]result{"-j": byJob, "OAR_JOB_ID": byEnvironment, "oarstat -p": byInput, "the file": byFile} {
		if r.code != 0 || r.out != want {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
	}
	if !strings.Contains(x.input, "node = 'node-") || !strings.Contains(x.input, "cluster = 'azur'") {
		t.Errorf("oarstat -p says nothing of nodes: %s", x.input)
	}
	if r := x.run("bob", "oarprint", "-j", id, "host"); r.code != 1 || r.out != "" {
		t.Errorf("another user: %+v", r)
	}
}
