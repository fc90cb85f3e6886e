package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cluster/calendar"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/quota"
)

// Standing is that of two vjobs: alice's of physics runs, and bob's waits.
func (l *fakeScheduler) QueueStatus(context.Context) (ordering.Status, error) {
	rules := ordering.DefaultSettings(queue.FirstFit{})
	book, err := quota.New([]quota.Quota{
		{Name: "cpus", User: quota.Each, Limits: calendar.Always(quota.Limits{quota.CPU: 4000})},
		{Name: "hours", Within: time.Hour, Limits: calendar.Always(quota.Limits{quota.CPUTime: 36_000_000})},
	}, rules.Queues.Names())
	if err != nil {
		return ordering.Status{}, err
	}
	rules.Quotas = book
	vm := cluster.VM{Reserved: cluster.Resources{CPU: 2000, Memory: 512}}
	alices := &cluster.VJob{ID: 1, Owner: "alice", VMs: []cluster.VM{vm}, Terms: &cluster.Terms{Project: "physics"}}
	desk := ordering.NewOrder(rules)
	desk.Put(alices, true)
	desk.Put(&cluster.VJob{ID: 2, Owner: "bob", VMs: []cluster.VM{vm}, Terms: &cluster.Terms{}}, false)
	desk.Charge(1, epoch, time.Hour, 0)
	tally := book.Tally(epoch, nil)
	tally.Count(&quota.Job{ID: 1, Association: rules.Association(alices), VMs: 1, Need: alices.Reserved()})
	return desk.Status(epoch, tally), nil
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Users see what concerns all and themselves, administrators everything.
func TestStandingByRole(t *testing.T) {
	b := newFixture(t)
	for caller, want := range map[string]struct{ quotas, shares []string }{
		"alice": {[]string{"alice", ""}, []string{"physics", "physics/alice"}},
		"bob":   {[]string{"bob", ""}, []string{"bob", "physics"}},
		"root":  {[]string{"alice", "bob", ""}, []string{"bob", "physics", "physics/alice"}},
	} {
		var quotas, shares []string
		for _, q := range read[wire.QuotaList](t, b.as(caller, http.MethodGet, "/v1/quotas", ""), http.StatusOK).Quotas {
			quotas = append(quotas, q.User)
		}
		list := read[wire.ShareList](t, b.as(caller, http.MethodGet, "/v1/shares", ""), http.StatusOK)
		for _, s := range list.Shares {
			shares = append(shares, s.Account)
		}
		diff(t, caller+"'s quotas", quotas, want.quotas)
		diff(t, caller+"'s shares", shares, want.shares)
		if list.HalfLifeSeconds != 7*24*3600 {
			t.Errorf("a half-life of %d s", list.HalfLifeSeconds)
		}
		queues := read[wire.QueueList](t, b.as(caller, http.MethodGet, "/v1/queues", ""), http.StatusOK).Queues
		diff(t, caller+"'s queues", queues, []wire.Queue{{Name: "batch", Policy: "firstfit", Default: true, Running: 1, Waiting: 1}})
	}
	quotas := read[wire.QuotaList](t, b.as("root", http.MethodGet, "/v1/quotas", ""), http.StatusOK).Quotas
	diff(t, "a quota of one", quotas[0], wire.Quota{Name: "cpus", User: "alice", CPUMilli: &wire.Measure{Used: 2000, Limit: 4000}})
	diff(t, "a quota of all", quotas[2], wire.Quota{
		Name: "hours", CPUSeconds: &wire.Measure{Used: 7200, Limit: 36_000}, WithinSeconds: 3600,
	})
}
