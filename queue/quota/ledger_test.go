package quota_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/queue/quota"
)

// What is charged to hours and comes back from a store is all that was charged.
func TestLedger(t *testing.T) {
	const seed = 9
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var l quota.Ledger
	sum := map[string]int64{}
	for range 300 {
		w := quota.Who{User: []string{"ann", "bob"}[rng.IntN(2)], Project: []string{"p", "q"}[rng.IntN(2)], Queue: "batch"}
		from := noon.Add(time.Duration(rng.Int64N(int64(3 * day))))
		n := rng.Int64N(1_000_000)
		l.Charge(w, from, from.Add(time.Duration(rng.Int64N(int64(5*time.Hour)))), n)
		sum[w.User] += n
		sum[w.Project] += n
		sum[""] += n
	}
	var again quota.Ledger
	again.Restore(l.Lines())
	for _, ledger := range []*quota.Ledger{&l, &again} {
		for who, want := range sum {
			group := quota.Who{User: who}
			if len(who) == 1 {
				group = quota.Who{Project: who}
			}
			if got := ledger.CPUTime(group, noon); got != want {
				t.Errorf("%q has %d, want %d: nothing may be lost by dividing", who, got, want)
			}
		}
	}
	half := noon.Add(36 * time.Hour)
	late := l.CPUTime(quota.Who{}, half)
	l.Forget(half)
	if got := l.CPUTime(quota.Who{}, noon); got != late || late == 0 || late == sum[""] {
		t.Errorf("%d are left of %d, want %d", got, sum[""], late)
	}
	l.Forget(noon.Add(30 * day))
	if lines := l.Lines(); len(lines) != 0 {
		t.Errorf("%d lines are left", len(lines))
	}
}

// One hour is charged to the hours that it lies in.
func TestChargeIsSpread(t *testing.T) {
	var l quota.Ledger
	w := quota.Who{User: "ann", Project: "p", Queue: "q"}
	l.Charge(w, noon.Add(45*time.Minute), noon.Add(105*time.Minute), 4000)
	l.Charge(w, noon, noon, 7)
	l.Charge(w, noon, noon.Add(-1), 7)
	if got := l.CPUTime(w, noon.Add(time.Hour)); got != 3000 {
		t.Errorf("%d after the hour, want 3000", got)
	}
	if got := l.CPUTime(w, noon.Add(time.Minute)); got != 4007 {
		t.Errorf("%d in all, want 4007", got)
	}
}
