package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/entitlement"
)

func (l *fakeScheduler) MoveVJob(_ context.Context, m scheduler.PoolMove) error {
	return l.record("%s moved to %q by %s", m.VJob, m.Pool, m.By)
}

func (l *fakeScheduler) SetPool(_ context.Context, s pool.PoolStatement, act journal.Audit) error {
	if _, err := s.Read(); err != nil {
		return err
	}
	return l.record("pool %s %s by %s", s.Name, s.String(), act.By)
}

func (l *fakeScheduler) DeletePool(_ context.Context, name string, act journal.Audit) error {
	if name != "physics" {
		return fmt.Errorf("pool %s: %w", name, cluster.ErrNotFound)
	}
	return l.record("pool %s deleted by %s", name, act.By)
}

// All see the tree; users see their own vjobs in a pool.
func TestPools(t *testing.T) {
	b := newFixture(t)
	b.populate()
	given := entitlement.Entitled{Entitlement: pool.Entitlement{Demand: cluster.Resources{CPU: 500}, Given: cluster.Resources{CPU: 300, Memory: 64}}, Weight: 300, Cap: 300}
	for id, owner := range map[cluster.VJobID]string{1: "alice", 2: "bob"} {
		b.scheduler.statuses()[id] = scheduler.VJobStatus{Owner: owner, Pool: "physics", State: cluster.Waiting, Entitled: []entitlement.Entitled{given}}
	}
	list := read[wire.PoolList](t, b.as("alice", "GET", "/v1/pools", ""), http.StatusOK)
	if len(list.Pools) != 2 || list.Pools[1].Parent != "cluster" || list.Pools[1].CPU.Limit != nil || *list.Pools[1].Memory.Limit != 4096 || !list.Pools[1].Stated {
		t.Errorf("%+v", list)
	}
	for caller, want := range map[string][]int64{"alice": {1}, "bob": {2}, "root": {1, 2}} {
		var got []int64
		for _, job := range read[wire.PoolDetail](t, b.as(caller, "GET", "/v1/pools/physics", ""), http.StatusOK).Members {
			got = append(got, job.ID)
			if vm := job.VMs[0]; vm.CPU != 300 || vm.CPUDemand != 500 || vm.CPUWeight != 300 || vm.CPUCap != 300 {
				t.Errorf("%+v", vm)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s sees vjobs %v, want %v", caller, got, want)
		}
	}
	detail := read[wire.VJobDetail](t, b.as("alice", "GET", "/v1/vjobs/1", ""), http.StatusOK)
	if e := detail.VMs[0].Entitlement; detail.Pool != "physics" || e == nil || e.CPU != 300 {
		t.Errorf("%+v, entitled %+v", detail.VJob, e)
	}
	if text := b.as("root", "GET", "/metrics", "").Body.String(); !strings.Contains(text, `vjob_pool_cpu{of="reserved",pool="physics"} 0`) {
		t.Error("no figures of pools in /metrics")
	}
}

func TestPoolChanges(t *testing.T) {
	b := newFixture(t)
	b.populate()
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string // in the answer, or recorded
	}{
		{"PUT", "/v1/pools/theory", `{"parent":"physics","cpu":{"limit":"2"}}`, 204, "pool theory in physics, cpu limit 2 by root"},
		{"PUT", "/v1/pools/theory", `{"cpu":{"limit":"200%"}}`, 400, "cpu.limit"},
		{"PUT", "/v1/pools/theory", `{"cpu":{"limit":2}}`, 400, "cpu.limit"},
		{"PUT", "/v1/pools/theory", `{"cpus":{}}`, 400, "cpus"},
		{"PUT", "/v1/pools/-x", `{}`, 400, "name"},
		{"DELETE", "/v1/pools/physics", "", 204, "pool physics deleted by root"},
		{"DELETE", "/v1/pools/theory", "", 404, "theory"},
		{"GET", "/v1/pools/nowhere", "", 404, "nowhere"},
		{"PATCH", "/v1/vjobs/1", `{"pool":"physics"}`, 200, `1 moved to "physics" by root`},
		{"PATCH", "/v1/vjobs/1", `{"moves":"never"}`, 200, "1 moves never by root"},
		{"PATCH", "/v1/vjobs/1", `{"moves":"automatic"}`, 200, "1 moves automatic by root"},
		{"PATCH", "/v1/vjobs/1", `{"moves":"often"}`, 400, "one of automatic, manual, never"},
		{"PATCH", "/v1/vjobs/1", `{"moves":"never","pool":""}`, 400, "moves: given beside pool"},
		{"PATCH", "/v1/vjobs/1", `{"pool":"physics","walltime_seconds":1}`, 400, "one change at a time"},
		{"PATCH", "/v1/vjobs/1", `{}`, 400, "walltime_seconds"},
	} {
		res := b.as("root", c.method, c.path, c.body)
		did := strings.Join(b.scheduler.recorded(), "\n")
		if res.Code != c.status || !strings.Contains(res.Body.String()+did, c.want) {
			t.Errorf("%s %s %s: status %d, want %d with %q: %s", c.method, c.path, c.body, res.Code, c.status, c.want, res.Body)
		}
	}
}

func (l *fakeScheduler) SetMoves(_ context.Context, m scheduler.MoveModeChange) error {
	return l.record("%s moves %s by %s", m.VJob, m.Moves, m.By)
}
