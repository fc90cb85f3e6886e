package replay_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// two is a cluster of two processors on one node.
var two = []cluster.Node{{ID: "n", Capacity: cluster.Resources{CPU: 2 * cluster.CPU, Memory: 4096}}}

// line is a vjob of a processor or two that takes 100 seconds, with more keys.
func line(id string, submit, vms int, more string) string {
	own, _, _ := strings.Cut(more, "[")
	for key, value := range map[string]int{"runtime": 100, "walltime": 200} {
		if !strings.Contains(own, key) {
			more = fmt.Sprintf(`,%q:%d`, key, value) + more
		}
	}
	return fmt.Sprintf(`{"id":%q,"submit":%d,"vms":%d,"cpu":1,"memory_mb":1024,"model":"ED"%s}`+"\n", id, submit, vms, more)
}

func play(t *testing.T, o replay.Options, lines ...string) *replay.Result {
	t.Helper()
	w, err := workload.Parse("f", []byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	o.Profile, o.Locks, o.Nodes = simulated.Thesis, true, two
	if o.Policy == nil && o.Base == nil {
		o.Policy = queue.FirstFit{Count: queue.Reserved}
	}
	r, err := replay.Run(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// under returns the settings of a daemon.
func under(t *testing.T, text string) replay.Options {
	t.Helper()
	path := t.TempDir() + "/s.yaml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Read(path, func(string) string { return "/tmp" })
	if err != nil {
		t.Fatal(err)
	}
	core, err := s.Scheduler()
	if err != nil {
		t.Fatal(err)
	}
	return replay.Options{Base: &core, Limits: s.SubmissionLimits()}
}

// fate finds a vjob by its name.
func fate(t *testing.T, r *replay.Result, name string) *replay.VJob {
	t.Helper()
	for i := range r.VJobs {
		if r.VJobs[i].Name == name {
			return &r.VJobs[i]
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// check compares instants, in seconds, with a tolerance for the durations of boots, stops
// and suspensions of the thesis.
func check(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if s := got.Seconds(); s < want-1 || s > want+60 {
		t.Errorf("%s: at %gs, want %gs and a little more", what, s, want)
	}
}

// Dependencies and the limits of arrays hold.
func TestDependencies(t *testing.T) {
	r := play(t, replay.Options{},
		line("first", 0, 1, ""), line("begun", 0, 1, `,"after":["after:first"]`), line("then", 0, 1, `,"after":["first"]`),
		line("sweep", 10, 1, `,"array":3,"at_once":1`), line("never", 20, 1, `,"after":["afternotok:first"]`),
		line("held", 20, 1, `,"after":["afternotok:first"],"unmet":"hold"`), line("anyway", 20, 1, `,"after":["afternotok:first"],"unmet":"run"`),
		line("sum", 30, 1, `,"after":["afterany:sweep"]`), line("second", 30, 1, `,"after":["sweep[2]"]`))
	if a, b := fate(t, r, "first"), fate(t, r, "begun"); b.Started < a.Started || b.Started >= a.Ended {
		t.Errorf("begun at %s, first from %s to %s", b.Started, a.Started, a.Ended)
	}
	for name, before := range map[string]string{"then": "first", "sum": "sweep[3]", "second": "sweep[2]", "sweep[2]": "sweep[1]", "sweep[3]": "sweep[2]", "anyway": "first"} {
		if a, b := fate(t, r, before), fate(t, r, name); b.Started < a.Ended || b.Ended < 0 {
			t.Errorf("%s starts at %s, %s ends at %s", name, b.Started, before, a.Ended)
		}
	}
	if j := fate(t, r, "never"); j.State != cluster.Failed {
		t.Errorf("never is %s", j.State)
	}
	if j := fate(t, r, "held"); !j.Held || j.Ended >= 0 {
		t.Errorf("held is %s, %s", j.State, j.Reason)
	}
	if s := r.Summary(); s.Left != 1 || s.Failed != 1 || s.Ended != len(r.VJobs)-1 {
		t.Errorf("%+v", s)
	}
}

// Reserved capacity is free in time. A conflicting reservation is refused, and so are the
// vjobs that depend on it.
func TestReservations(t *testing.T) {
	r := play(t, replay.Options{},
		line("long", 0, 2, `,"runtime":2000,"walltime":2100`), line("booked", 10, 2, `,"reserve":1000`),
		line("over", 20, 1, `,"reserve":1050`), line("beside", 30, 1, `,"reserve":1200`))
	check(t, "booked", fate(t, r, "booked").Started, 1000)
	check(t, "beside", fate(t, r, "beside").Started, 1200)
	if j := fate(t, r, "long"); j.Suspensions != 1 && j.Suspensions != 2 || j.State != cluster.Terminated {
		t.Errorf("long was suspended %d times: %s", j.Suspensions, j.Reason)
	}
	if len(r.Refused) != 1 || r.Refused[0].Name != "over" || !strings.HasPrefix(r.Refused[0].Why, "reservation: ") {
		t.Errorf("%+v", r.Refused)
	}
}

// Best-effort vjobs are preempted, non-preemptible ones are not, and a moldable one gets the
// shape that ends first.
func TestKinds(t *testing.T) {
	r := play(t, replay.Options{},
		line("idle", 0, 2, `,"runtime":1000,"walltime":2000,"best_effort":true,"yields":"end"`), line("one", 50, 2, ""),
		line("firm", 400, 2, `,"yields":"never"`), line("ahead", 410, 2, `,"priority":9`),
		line("soft", 3000, 1, `,"walltime":900,"shapes":[{"runtime":50,"walltime":90,"vms":2,"cpu":1,"memory_mb":1024,"model":"ED"}]`))
	check(t, "one", fate(t, r, "one").Started, 50)
	check(t, "ahead", fate(t, r, "ahead").Started, fate(t, r, "firm").Ended.Seconds())
	check(t, "soft", fate(t, r, "soft").Ended, 3050)
	if got := fate(t, r, "soft").Length; got != 50*time.Second {
		t.Errorf("soft takes %s alone", got)
	}
	if j := fate(t, r, "idle"); j.Ended < fate(t, r, "ahead").Ended || j.State != cluster.Terminated {
		t.Errorf("idle: %s at %s", j.State, j.Ended)
	}
}

// The settings of a daemon determine the order and the quotas.
func TestSettings(t *testing.T) {
	lines := []string{
		line("a", 0, 2, `,"owner":"ann"`), line("b", 1, 2, `,"owner":"ann"`), line("c", 2, 2, `,"owner":"bob","queue":"urgent"`),
		line("d", 3, 1, `,"owner":"ann","queue":"night"`), line("e", 4, 1, `,"owner":"ann","after":["d"]`),
	}
	plain := play(t, replay.Options{Policy: queue.EASY{}}, lines...)
	if b, c := fate(t, plain, "b"), fate(t, plain, "c"); c.Started < b.Ended {
		t.Errorf("in order of submission, c starts at %s, b ends at %s", c.Started, b.Ended)
	}
	r := play(t, under(t, `
policy: {name: easy}
default_queue: batch
queues: [{name: batch, priority: 1}, {name: urgent, priority: 9}]
priority: {queue: 1000}
`), lines...)
	if b, c := fate(t, r, "b"), fate(t, r, "c"); b.Started < c.Ended || b.Queue != "batch" {
		t.Errorf("with queues, b starts at %s, c ends at %s", b.Started, c.Ended)
	}
	why := []string{}
	for _, x := range r.Refused {
		why = append(why, x.Name+": "+x.Why)
	}
	if got := strings.Join(why, "\n"); got != `d: queue: "night" is not one of urgent, batch`+"\n"+`e: after: "d" is not a vjob that was not refused` {
		t.Error(got)
	}
	groups := r.Groups(func(j *replay.VJob) string { return j.Queue })
	if len(groups) != 2 || groups[0].Name != "batch" || groups[0].VJobs != 2 || groups[1].VJobs != 1 || groups[1].Wait.Mean > groups[0].Wait.Max {
		t.Errorf("%+v", groups)
	}
}

// A vjob beyond a quota is refused; a vjob that fits later waits.
func TestQuotas(t *testing.T) {
	r := play(t, under(t, "quotas: [{name: vms, user: each, limits: {vms: 1}}]\n"), line("a", 0, 1, ""), line("b", 1, 1, ""), line("wide", 2, 2, ""))
	if a, b := fate(t, r, "a"), fate(t, r, "b"); b.Started < a.Ended-time.Minute {
		t.Errorf("b starts at %s, a ends at %s", b.Started, a.Ended)
	}
	if len(r.Refused) != 1 || r.Refused[0].Name != "wide" || !strings.Contains(r.Refused[0].Why, "quota vms of user replay allows at most 1") {
		t.Errorf("%+v", r.Refused)
	}
}

// Windows in time count from the date at which the workload begins.
func TestWindows(t *testing.T) {
	o := under(t, `quotas: [{name: vms, limits: {vms: 0}, windows: [{name: night, when: "18:00-08:00", limits: {vms: 9}}]}]`)
	o.Start = time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC)
	check(t, "before night", fate(t, play(t, o, line("a", 0, 1, "")), "a").Started, 3600)
	o.Start = o.Start.Add(2 * time.Hour)
	check(t, "at night", fate(t, play(t, o, line("a", 0, 1, "")), "a").Started, 0)
}
