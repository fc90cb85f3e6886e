package quota_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/queue/quota"
)

// Hours have all that was charged, also in a clone.
func TestLedger(t *testing.T) {
	const seed = 9
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var l quota.Ledger
	sum := map[string]int64{}
	for range 300 {
		w := quota.Association{User: []string{"ann", "bob"}[rng.IntN(2)], Project: []string{"p", "q"}[rng.IntN(2)], Queue: "batch"}
		from := noon.Add(time.Duration(rng.Int64N(int64(3 * day))))
		n := rng.Int64N(1_000_000)
		l.Charge(w, from, n)
		sum[w.User] += n
		sum[w.Project] += n
		sum[""] += n
	}
	again := l.Clone()
	for _, ledger := range []*quota.Ledger{&l, again} {
		for who, want := range sum {
			group := quota.Association{User: who}
			if len(who) == 1 {
				group = quota.Association{Project: who}
			}
			if got := ledger.CPUTime(group, noon); got != want {
				t.Errorf("%q has %d, want %d", who, got, want)
			}
		}
	}
	half := noon.Add(36 * time.Hour)
	late := l.CPUTime(quota.Association{}, half)
	l.Forget(half)
	if got := l.CPUTime(quota.Association{}, noon); got != late || late == 0 || late == sum[""] {
		t.Errorf("%d are left of %d, want %d", got, sum[""], late)
	}
	l.Forget(noon.Add(30 * day))
	if got := l.CPUTime(quota.Association{}, time.Time{}); got != 0 {
		t.Errorf("%d are left of what is long over", got)
	}
	if got := again.CPUTime(quota.Association{}, noon); got != sum[""] {
		t.Errorf("%d are left in the clone, want %d", got, sum[""])
	}
}

// Hours count whole or not at all.
func TestHoursCountWhole(t *testing.T) {
	var l quota.Ledger
	w := quota.Association{User: "ann", Project: "p", Queue: "q"}
	l.Charge(w, noon.Add(45*time.Minute), 1000)
	l.Charge(w, noon.Add(105*time.Minute), 3000)
	l.Charge(w, noon, -7)
	if got := l.CPUTime(w, noon.Add(time.Hour)); got != 3000 {
		t.Errorf("%d after the hour, want 3000", got)
	}
	if got := l.CPUTime(w, noon.Add(50*time.Minute)); got != 4000 {
		t.Errorf("%d in all, want 4000", got)
	}
}

// Rename moves the use of a user in each project.
func TestLedgerRename(t *testing.T) {
	var l quota.Ledger
	for _, w := range []quota.Association{{User: "ann", Project: "p"}, {User: "ann"}, {User: "bob", Project: "p"}} {
		l.Charge(w, noon, 10)
	}
	l.Rename("ann", "ann#7")
	for w, want := range map[quota.Association]int64{{User: "ann"}: 0, {User: "ann#7"}: 20, {User: "bob"}: 10, {Project: "p"}: 20} {
		if got := l.CPUTime(w, noon); got != want {
			t.Errorf("%+v has %d, want %d", w, got, want)
		}
	}
}
