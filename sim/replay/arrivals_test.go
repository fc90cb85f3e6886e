package replay_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// A job that follows another one with a think time comes later under a slower policy. A job
// that follows a refused job comes at the time of the refusal.
func TestFollowing(t *testing.T) {
	w, err := workload.Parse("f", []byte(strings.Join([]string{
		line("long", 0, 2, `,"runtime":1000,"walltime":2000`), line("a", 10, 1, ""), line("b", 20, 1, ""), line("c", 30, 1, `,"reserve":500`), line("d", 40, 1, ""),
		line("e", 45, 1, `,"after":["afternotok:a"],"unmet":"hold"`), line("f", 50, 1, ""),
	}, "")))
	if err != nil {
		t.Fatal(err)
	}
	for i, on := range map[int]int{2: 1, 4: 3, 6: 5} { // f follows e, which is held for ever
		w.Jobs[i].Follows = &workload.Following{On: on, Think: time.Minute}
	}
	r, err := replay.Run(context.Background(), w, replay.Options{Policy: queue.FCFS{}, Profile: simulated.Thesis, Nodes: two})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "a", fate(t, r, "a").Started, fate(t, r, "long").Ended.Seconds())
	if got, want := fate(t, r, "b").Submitted, fate(t, r, "a").Ended+time.Minute; got != want {
		t.Errorf("b comes at %s, want %s", got, want)
	}
	if got := fate(t, r, "d").Submitted; got != 30*time.Second+time.Minute {
		t.Errorf("d comes at %s", got)
	}
	if len(r.Refused) != 2 || r.Refused[0].Name != "c" || r.Refused[1].Name != "f" || !strings.Contains(r.Refused[1].Why, "never ended") {
		t.Errorf("%+v", r.Refused)
	}
	if j := fate(t, r, "e"); !j.Held || j.State != cluster.Waiting {
		t.Errorf("e is %s", j.State)
	}
}

// A replay ends even if a vjob can never start.
func TestForgotten(t *testing.T) {
	o := under(t, `quotas: [{name: vms, limits: {vms: 0}, windows: [{name: feast, when: "2020-01-01", limits: {vms: 9}}]}]`)
	r := play(t, o, line("a", 0, 1, ""))
	if s := r.Summary(); s.Left+s.Refused != 1 {
		t.Errorf("%+v", s)
	}
}
