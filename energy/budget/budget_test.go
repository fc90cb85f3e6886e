package budget_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
)

var rack = budget.Group{Label: "rack", Value: "r1"}

func book(t *testing.T, lines ...budget.Budget) *budget.Schedule {
	t.Helper()
	b, err := budget.New(time.UTC, lines)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func day(hour, minute int) time.Time { return time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC) } // a Monday

// The budget of the cluster is smaller by night, and a rack has one on Mondays only.
func TestByTheHour(t *testing.T) {
	b := book(t,
		budget.Budget{Watts: 12_000}, budget.Budget{Watts: 6000, When: "18:00-08:00"},
		budget.Budget{Watts: 900, Group: rack, When: "Mo 09:00-10:00"},
	)
	night := budget.Limit{Watts: 6000, When: "18:00-08:00"}
	for at, want := range map[time.Time][]budget.Limit{
		day(7, 59): {night}, day(8, 0): {{Watts: 12_000}}, day(18, 0): {night},
		day(9, 30): {{Watts: 12_000}, {Group: rack, Watts: 900, When: "Mo 09:00-10:00"}},
	} {
		if diff := cmp.Diff(want, b.At(at)); diff != "" {
			t.Errorf("%s: %s", at, diff)
		}
	}
	var changes []string
	for at := day(0, 0); len(changes) < 5; {
		next, ok := b.Next(at)
		if !ok || !next.After(at) {
			t.Fatalf("after %s comes %s, %v", at, next, ok)
		}
		at = next
		changes = append(changes, next.Format("Mon15"))
	}
	if got := strings.Join(changes, " "); got != "Mon08 Mon09 Mon10 Mon18 Tue08" {
		t.Errorf("changes: %s", got)
	}
	var empty *budget.Schedule
	if _, ok := empty.Next(day(0, 0)); ok || empty.At(day(0, 0)) != nil || empty.Budgets() != nil {
		t.Error("a nil book has limits")
	}
}

func TestReadBack(t *testing.T) {
	lines := []budget.Budget{{Watts: 12_000.5}, {Watts: 0, Group: rack, When: "Sa,Su"}}
	again, err := budget.Parse(budget.Format(lines))
	if err != nil || !cmp.Equal(lines, again) {
		t.Errorf("%v: %s", err, cmp.Diff(lines, again))
	}
	if none, err := budget.Parse(budget.Format(nil)); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := budget.Parse("{"); err == nil {
		t.Error("no error for truncated JSON")
	}
}

func TestBadBudgets(t *testing.T) {
	for name, c := range map[string]struct {
		lines []budget.Budget
		want  string
	}{
		"not a number":     {[]budget.Budget{{Watts: energy.Watts(math.NaN())}}, "budgets[0].watts"},
		"negative":         {[]budget.Budget{{Watts: 5}, {Watts: -1, When: "Mo"}}, "budgets[1].watts"},
		"endless":          {[]budget.Budget{{Watts: energy.Watts(math.Inf(1))}}, "budgets[0].watts"},
		"no window":        {[]budget.Budget{{Watts: 5, When: "25:00-26:00"}}, "budgets[0].when"},
		"two without one":  {[]budget.Budget{{Watts: 5}, {Watts: 6}}, "a budget without a window already"},
		"windows overlap":  {[]budget.Budget{{Watts: 5, When: "18:00-08:00"}, {Watts: 6, When: "Tu 07:00-09:00"}}, "does not overlap"},
		"the same windows": {[]budget.Budget{{Watts: 5, When: "Mo"}, {Watts: 6, When: "Mo"}}, "no other window"},
	} {
		if _, err := budget.New(time.UTC, c.lines); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Windows of different groups may overlap.
	book(t, budget.Budget{Watts: 5, When: "Mo"}, budget.Budget{Watts: 6, When: "Mo", Group: rack})
}

func TestGroups(t *testing.T) {
	for text, want := range map[string]budget.Group{"": {}, "rack=r1": rack} {
		g, err := budget.ParseGroup(text)
		if err != nil || g != want || g.String() != text {
			t.Errorf("%q: %+v, %v", text, g, err)
		}
	}
	for _, text := range []string{"rack", "=r1", "rack="} {
		if _, err := budget.ParseGroup(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if !rack.Has(map[string]string{"rack": "r1"}) || rack.Has(map[string]string{"rack": "r2"}) || rack.Has(nil) || !(budget.Group{}).Has(nil) {
		t.Error("Has is wrong")
	}
}

func TestTighter(t *testing.T) {
	a := []budget.Limit{{Watts: 10}, {Group: rack, Watts: 3}}
	b := []budget.Limit{{Watts: 8, When: "Mo"}, {Group: budget.Group{Label: "pdu", Value: "a"}, Watts: 4}, {Group: rack, Watts: 5}}
	want := []budget.Limit{b[0], b[1], a[1]}
	if diff := cmp.Diff(want, budget.Tighter(a, b)); diff != "" {
		t.Error(diff)
	}
}
