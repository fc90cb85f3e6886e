package multifactor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/multifactor"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func settings() multifactor.Settings {
	return multifactor.Settings{
		Weights: multifactor.Weights{Age: 1000, Size: 100, Queue: 2000, User: 10, FairShare: 500, Deadline: 800},
		OldAge:  10 * day, Horizon: day, Lead: 50,
	}
}

func TestBreakdown(t *testing.T) {
	for _, c := range []struct {
		job  multifactor.Factors
		want string
	}{
		{multifactor.Factors{Submitted: noon.Add(-2 * day), Queue: 0.5, FairShare: 0.08, Size: 1}, "priority 1240 = 1000 queue + 200 age + 40 fair share"},
		{multifactor.Factors{Submitted: noon, Size: 1}, "priority 0"},
		{multifactor.Factors{Submitted: noon, Size: 1, Priority: -3}, "priority -30 = -30 as submitted"},
		{multifactor.Factors{Submitted: noon.Add(-day), Size: 1, Priority: -3}, "priority 70 = -30 as submitted + 100 age"},
		{multifactor.Factors{Submitted: noon.Add(-day), Size: 1, Priority: 3, Runs: true}, "priority 180 = 30 as submitted + 100 age + 50 runs"},
		{multifactor.Factors{Submitted: noon.Add(-99 * day), Size: 0.25}, "priority 1075 = 1000 age + 75 size"},
		{multifactor.Factors{Submitted: noon.Add(day), Size: 1}, "priority 0"}, // a clock that was put back
		{multifactor.Factors{Submitted: noon, Size: 1, Deadline: noon.Add(6 * time.Hour)}, "priority 600 = 600 deadline"},
		{multifactor.Factors{Submitted: noon, Size: 1, Deadline: noon.Add(-day)}, "priority 800 = 800 deadline"},
		{multifactor.Factors{Submitted: noon, Size: 1, Deadline: noon.AddDate(2000, 0, 0)}, "priority 0"},
		{multifactor.Factors{Submitted: noon, Queue: 9, FairShare: -1, Size: 7, Priority: 1 << 40}, "priority 10002000 = 2000 queue + 10000000 as submitted"},
		// 0.5 points of age and 0.5 of fair share are one point together.
		{multifactor.Factors{Submitted: noon.Add(-day / 200), FairShare: 0.001, Size: 1}, "priority 1 = 1 age"},
	} {
		r := settings()
		got := r.Priority(&c.job, noon)
		if got.String() != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.job, &got, c.want)
		}
	}
}

func TestLargeFirst(t *testing.T) {
	r := settings()
	r.LargeFirst = true
	if got := r.Priority(&multifactor.Factors{Submitted: noon, Size: 0.25}, noon); got.String() != "priority 25 = 25 size" {
		t.Error(&got)
	}
}

func job(rng *rand.Rand, id int) multifactor.Factors {
	j := multifactor.Factors{
		ID: cluster.VJobID(id), Submitted: noon.Add(-time.Duration(rng.Int64N(int64(30 * day)))), Priority: rng.IntN(41) - 20,
		Queue: rng.Float64(), FairShare: rng.Float64(), Size: rng.Float64(), Runs: rng.IntN(3) == 0,
	}
	if rng.IntN(4) == 0 {
		j.Deadline = noon.Add(time.Duration(rng.Int64N(int64(4*day))) - day)
	}
	return j
}

var number = regexp.MustCompile(`-?\d+`)

// The displayed parts add up, and the order of the displayed sums is right.
func TestSums(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := settings()
	last, before := multifactor.Priority{}, 0
	for i := range 5000 {
		j := job(rng, i+1)
		now := r.Priority(&j, noon)
		text := regexp.MustCompile(`- (\d)`).ReplaceAllString(now.String(), "-$1")
		sum, total := 0, 0
		for k, part := range number.FindAllString(text, -1) {
			n, err := strconv.Atoi(part)
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				total = n
			} else {
				sum += n
			}
		}
		if sum != total {
			t.Fatalf("does not add up: %s", text)
		}
		if i > 0 && now.Compare(&last) < 0 != (total > before) && total != before {
			t.Fatalf("%d comes on the wrong side of %d", total, before)
		}
		last, before = now, total
	}
}

// Time never swaps two vjobs without deadlines that are both below the full age.
func TestTimeChangesNoPlaces(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := settings()
	r.OldAge = 365 * day
	for range 3000 {
		a, b := job(rng, 1), job(rng, 2)
		a.Deadline, b.Deadline = time.Time{}, time.Time{}
		b.FairShare, b.Queue, b.Size = a.FairShare, a.Queue, a.Size
		b.Submitted, b.Priority = a.Submitted.Add(time.Duration(rng.Int64N(int64(2*time.Hour)))), a.Priority // close together
		b.FairShare += float64(rng.IntN(3)-1) * 0.0001
		first, now := 0, noon
		for range 20 {
			x, y := r.Priority(&a, now), r.Priority(&b, now)
			order := x.Compare(&y)
			if order == 0 || first != 0 && order != first {
				t.Fatalf("%+v and %+v: %d, then %d at %s", a, b, first, order, now)
			}
			first = order
			now = now.Add(time.Duration(rng.Int64N(int64(day))))
		}
	}
}

// After any changes the order equals a full sort.
func TestLine(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 0))
		line, err := multifactor.NewSorter(settings())
		if err != nil {
			t.Fatal(err)
		}
		r, jobs, now := settings(), map[cluster.VJobID]multifactor.Factors{}, noon
		for range 60 {
			for range rng.IntN(6) {
				j := job(rng, 1+rng.IntN(40))
				if rng.IntN(3) == 0 {
					line.Drop(j.ID)
					delete(jobs, j.ID)
				} else {
					line.Put(j)
					jobs[j.ID] = j
				}
			}
			if rng.IntN(2) == 0 {
				now = now.Add(time.Duration(rng.Int64N(int64(time.Hour))))
			}
			var want []multifactor.Priority
			for _, j := range jobs {
				want = append(want, r.Priority(&j, now))
			}
			slices.SortFunc(want, func(a, b multifactor.Priority) int { return a.Compare(&b) })
			var got []multifactor.Priority
			for _, id := range line.Order(now) {
				r, _ := line.Priority(id, now)
				got = append(got, r)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v, want %v", seed, got, want)
			}
		}
	}
}

// Priorities change only at the instants of Next.
func TestNext(t *testing.T) {
	line, err := multifactor.NewSorter(settings())
	if err != nil {
		t.Fatal(err)
	}
	line.Put(multifactor.Factors{ID: 1, Submitted: noon, Deadline: noon.Add(day)})
	at := func(now time.Time) multifactor.Priority {
		r, there := line.Priority(1, now)
		if !there || len(line.Order(now)) != 1 {
			t.Fatal("the vjob is not in the line")
		}
		return r
	}
	now := noon
	for range 50 {
		next := line.Next(now)
		was := at(now)
		if late := at(next.Add(-1)); late != was || !next.After(now) {
			t.Fatalf("%s has changed to %s before %s", &was, &late, next)
		}
		if late := at(next); late == was {
			t.Fatalf("%s has not changed at %s", &was, next)
		}
		now = next
	}
}

// Two users with alternating use of equal amounts keep their places; one with much more use loses
// its place.
func TestCalm(t *testing.T) {
	c := multifactor.Hysteresis{Leap: 0.05}
	for i := range 100 {
		wiggle := 0.02 * float64(i%2)
		if a, b := c.Update("ann", 0.50+wiggle), c.Update("bob", 0.51-wiggle); a != 0.50 || b != 0.51 {
			t.Fatalf("at %d: %v and %v", i, a, b)
		}
	}
	if a := c.Update("ann", 0.44); a != 0.44 {
		t.Errorf("after a leap: %v", a)
	}
	c.Forget(func(account string) bool { return account == "ann" })
	if a, b := c.Update("ann", 0.45), c.Update("bob", 0.5); a != 0.44 || b != 0.5 {
		t.Errorf("after forgetting bob: %v and %v", a, b)
	}
}

func TestWrongRules(t *testing.T) {
	for field, change := range map[string]func(*multifactor.Settings){
		"age":     func(r *multifactor.Settings) { r.Age = -1 },
		"lead":    func(r *multifactor.Settings) { r.Lead = multifactor.MostWeight + 1 },
		"old_age": func(r *multifactor.Settings) { r.OldAge = 0 },
		"horizon": func(r *multifactor.Settings) { r.Horizon = time.Millisecond },
	} {
		r := settings()
		change(&r)
		_, err := multifactor.NewSorter(r)
		if wrong, ok := errors.AsType[*cluster.FieldError](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func ExampleSorter() {
	line, _ := multifactor.NewSorter(multifactor.Settings{Weights: multifactor.Weights{Age: 100, Queue: 1000}, OldAge: 10 * day, Horizon: day})
	line.Put(multifactor.Factors{ID: 7, Submitted: noon.Add(-5 * day)})
	line.Put(multifactor.Factors{ID: 8, Submitted: noon.Add(-day), Queue: 0.5})
	for _, id := range line.Order(noon) {
		r, _ := line.Priority(id, noon)
		fmt.Println(id, &r)
	}
	// Output:
	// 8 priority 510 = 500 queue + 10 age
	// 7 priority 50 = 50 age
}

func BenchmarkLine(b *testing.B) {
	const jobs = 100_000
	fill := func(b *testing.B) *multifactor.Sorter {
		b.Helper()
		rng := rand.New(rand.NewPCG(1, 0))
		line, err := multifactor.NewSorter(settings())
		if err != nil {
			b.Fatal(err)
		}
		for i := range jobs {
			line.Put(job(rng, i+1))
		}
		return line
	}
	b.Run("jobs=100000/first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			line := fill(b)
			b.StartTimer()
			line.Order(noon)
		}
	})
	b.Run("jobs=100000/later", func(b *testing.B) {
		line, now := fill(b), noon
		for b.Loop() {
			now = line.Next(now)
			line.Order(now)
		}
	})
	b.Run("jobs=100000/one", func(b *testing.B) {
		line, rng := fill(b), rand.New(rand.NewPCG(2, 0))
		for b.Loop() {
			line.Put(job(rng, 1+rng.IntN(jobs)))
			line.Order(noon)
		}
	})
	b.Run("jobs=100000/unchanged", func(b *testing.B) {
		line := fill(b)
		for b.Loop() {
			line.Order(noon)
		}
	})
}
