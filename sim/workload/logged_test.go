package workload_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vjob/cluster"
	"vjob/sim/swf"
	"vjob/sim/workload"
)

// job returns a line of a log: number, submission, run, processors, walltime, memory, user,
// group, queue, preceding job and think time.
func job(fields string) string {
	f := strings.Fields(fields)
	return strings.Join([]string{f[0], f[1], "-1", f[2], f[3], "-1", "-1", f[3], f[4], f[5], "1", f[6], f[7], "-1", f[8], "-1", f[9], f[10]}, " ") + "\n"
}

func read(t *testing.T, text string) *swf.Log {
	t.Helper()
	log, err := swf.Read(strings.NewReader(text), 100)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func mapped(t *testing.T, m workload.LogMapping, lines ...string) *workload.Workload {
	t.Helper()
	w, err := workload.FromLog(read(t, strings.Join(lines, "")), m)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestMapping makes vjobs of everything that a log can say.
func TestMapping(t *testing.T) {
	lines := []string{
		"; UnixStartTime: 1000000\n", job("7 100 50 2 60 2097152 3 4 5 -1 -1"), job("8 110 50 1 60 -1 3 -1 -1 7 30"), job("8 120 50 1 60 1 9 4 5 7 -1"),
	}
	w := mapped(t, workload.LogMapping{Share: 1500, Fields: workload.LogFields{User: true, Group: true, Queue: true, Preceding: true, Think: true}}, lines...)
	type row struct {
		name, owner, project, queue string
		memory                      cluster.MiB
		vms                         int
		at                          time.Duration
		after                       []workload.Link
		follows                     *workload.Following
	}
	var got []row
	for i := range w.Jobs {
		j, s := &w.Jobs[i], &w.Jobs[i].Submission
		got = append(got, row{s.Name, s.Owner, s.Project, s.Queue, s.VMs[0].Reserved.Memory, len(s.VMs), j.At, j.After, j.Follows})
		if j.Length() != 50*time.Second || s.Walltime != time.Minute {
			t.Errorf("%s takes %s of %s", s.Name, j.Length(), s.Walltime)
		}
	}
	want := []row{
		{"j7", "user3", "group4", "queue5", 1500, 2, 0, nil, nil},
		{"j8", "user3", "", "", 1500, 1, 10 * time.Second, []workload.Link{{On: 0, When: cluster.AfterAny}}, &workload.Following{On: 0, Think: 30 * time.Second}},
		{"j8.3", "user9", "group4", "queue5", 64, 1, 20 * time.Second, nil, &workload.Following{On: 0}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	if !w.Start.Equal(time.Unix(1000100, 0)) {
		t.Errorf("it begins at %s", w.Start)
	}
	for _, j := range mapped(t, workload.LogMapping{Share: 1500}, lines...).Jobs {
		if s := j.Submission; s.Owner != workload.Owner || s.Queue != "" || s.Project != "" || j.After != nil || j.Follows != nil {
			t.Errorf("fields that were not asked for count: %+v", s)
		}
	}
}

// TestPhases compares the assumed phases and memory with those of a file that others
// derived from the same log.
func TestPhases(t *testing.T) {
	const file = "testdata/kth_50_explicit.jsonl.gz"
	want, err := workload.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	w := mapped(t, workload.LogMapping{Share: 3686 / 2, Phases: true, Fields: workload.LogFields{User: true}}, asLog(t, file))
	if diff := cmp.Diff(want.Jobs, w.Jobs, cmpopts.IgnoreUnexported(workload.Job{}), cmpopts.IgnoreFields(workload.Job{}, "Line")); diff != "" {
		t.Error(diff)
	}
}

// asLog makes a log of a file of vjobs.
func asLog(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var j struct {
			ID                                   string
			Submit, Runtime, VMs, Walltime, User json.Number
		}
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		b.WriteString(job(strings.Join([]string{
			strings.TrimPrefix(j.ID, "j"), j.Submit.String(), j.Runtime.String(), j.VMs.String(), j.Walltime.String(), "-1", j.User.String(), "1 1 -1 -1",
		}, " ")))
	}
	return b.String()
}

// Times that no duration can hold are as long as one can be.
func TestAbsurdTimes(t *testing.T) {
	for _, j := range mapped(t, workload.LogMapping{Share: 64}, job("1 0 5 1 1000000000000 -1 -1 -1 -1 -1 -1"), job("2 999999999999 5 1 5 -1 -1 -1 -1 -1 -1")).Jobs {
		if j.At < 0 || j.Submission.Walltime < 5*time.Second {
			t.Errorf("%s at %s for %s", j.Submission.Name, j.At, j.Submission.Walltime)
		}
	}
}
