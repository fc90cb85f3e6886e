package quota_test

import (
	"testing"
	"time"

	"vjob/queue/quota"
)

func TestNext(t *testing.T) {
	b := book(t, quota.Quota{Name: "a", Limits: always(cpus(1))}, quota.Quota{Name: "b", Limits: nightly(t, cpus(1), cpus(2))})
	if next, ok := b.Next(noon); !ok || !next.Equal(noon.Add(6*time.Hour)) {
		t.Errorf("%s, %v", next, ok)
	}
	if _, ok := book(t, quota.Quota{Name: "a", Limits: always(cpus(1))}).Next(noon); ok {
		t.Error("a limit that never changes changes")
	}
	slides := quota.Quota{Name: "hours", Within: 90 * time.Minute, Limits: always(quota.Limits{quota.CPUTime: 1})}
	if next, ok := book(t, slides).Next(noon); !ok || !next.Equal(noon.Add(30*time.Minute)) {
		t.Errorf("what was used before 11:00 counts until %s, %v", next, ok)
	}
}
