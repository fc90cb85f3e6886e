package backfill_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/papers/jobs/backfill"
)

// job is a job with what no discipline knows.
type job struct {
	backfill.Job
	submit, run Time
	leaves      Time // taken out of the queue then, unless it runs; 0 is never
}

// drive runs jobs, sorted by their submission, under a discipline, and returns
// their starts; -1 for those that left.
func drive(d backfill.Discipline, jobs []job) []Time {
	starts, ends := make([]Time, len(jobs)), make([]Time, len(jobs))
	for i := range jobs {
		starts[i], ends[i] = backfill.Never, backfill.Never
		if jobs[i].leaves > 0 {
			ends[i] = jobs[i].leaves
		}
	}
	for now := Time(-1); ; {
		next := d.Wake()
		for i := range jobs {
			for _, at := range []Time{jobs[i].submit, ends[i]} {
				if at > now {
					next = min(next, at)
				}
			}
		}
		if next == backfill.Never {
			return starts
		}
		now = next
		var gone []int64
		var came []backfill.Job
		for i := range jobs {
			if ends[i] == now {
				gone = append(gone, jobs[i].ID)
				if starts[i] == backfill.Never {
					starts[i] = -1
				}
			}
			if jobs[i].submit == now {
				came = append(came, jobs[i].Job)
			}
		}
		for _, id := range d.Pass(now, gone, came) {
			i := slices.IndexFunc(jobs, func(j job) bool { return j.ID == id })
			starts[i], ends[i] = now, now+jobs[i].run
		}
	}
}

// logs makes jobs of which many are alike, many come and end together, and some
// end early or leave the queue.
func logs(r *rand.Rand, count int, size int64) []job {
	jobs := make([]job, count)
	lengths := 1 + r.IntN(12)
	rush := 1 + r.IntN(6)
	early := r.IntN(3)
	at := Time(0)
	for i := range jobs {
		at += Time(r.IntN(rush)) * Time(r.IntN(2))
		j := &jobs[i]
		j.Job = backfill.Job{ID: int64(1000 - i), Width: 1 + r.Int64N(size), Length: Time(1 + r.IntN(lengths))}
		if r.IntN(2) == 0 {
			j.Width = 1 + r.Int64N(1+size/4)
		}
		j.submit, j.run = at, j.Length
		if r.IntN(1+early) > 0 {
			j.run = 1 + Time(r.Int64N(int64(j.Length)))
		}
		if r.IntN(25) == 0 {
			j.leaves = at + 1 + Time(r.IntN(30))
		}
	}
	return jobs
}

// compare has a discipline and the naive one run the same jobs.
func compare(t *testing.T, policy string, jobs []job, size int64) {
	t.Helper()
	d, err := backfill.New(policy, size)
	if err != nil {
		t.Fatal(err)
	}
	got, want := drive(d, jobs), drive(&naive{policy: policy, size: size}, jobs)
	for i := range jobs {
		if got[i] != want[i] {
			t.Fatalf("job %d of %d, %+v, starts at %d, want %d", i, len(jobs), jobs[i], got[i], want[i])
		}
	}
	if d.Wake() != backfill.Never {
		t.Errorf("wakes at %d though all is over", d.Wake())
	}
}

// Every discipline starts every job when the naive one does.
func TestNaive(t *testing.T) {
	seeds := uint64(600)
	if testing.Short() {
		seeds = 200
	}
	for _, policy := range backfill.Names() {
		t.Run(policy, func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 4))
				size := 1 + r.Int64N(12)
				jobs := logs(r, 1+r.IntN(50), size)
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { compare(t, policy, jobs, size) })
			}
		})
	}
}

// The like for queues of hundreds.
func TestLongQueues(t *testing.T) {
	for _, policy := range backfill.Names() {
		t.Run(policy, func(t *testing.T) {
			count, seeds := 600, uint64(4)
			if policy == "conservative" || policy == "conservative-nocompression" {
				count, seeds = 100, 4 // the naive one is slow
			}
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 5))
				jobs := logs(r, count, 30)
				for i := range jobs {
					jobs[i].submit /= 3
				}
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { compare(t, policy, jobs, 30) })
			}
		})
	}
}

// An unknown job can leave without an effect.
func TestUnknownGone(t *testing.T) {
	for _, policy := range backfill.Names() {
		d, err := backfill.New(policy, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Pass(5, []int64{99}, []backfill.Job{{ID: 1, Width: 4, Length: 10}}); !slices.Equal(got, []int64{1}) {
			t.Errorf("%s: %v start", policy, got)
		}
		if got := d.Pass(6, []int64{99}, []backfill.Job{{ID: 2, Width: 1, Length: 10}}); len(got) > 0 {
			t.Errorf("%s: %v start beside one that takes all", policy, got)
		}
	}
}

func TestUnknownName(t *testing.T) {
	_, err := backfill.New("lifo", 4)
	var field *cluster.FieldError
	if !errors.As(err, &field) || field.Want != "one of fcfs, firstfit, easy, conservative, conservative-nocompression" {
		t.Error(err)
	}
}

// Four processors: the first job takes three, the second needs all and waits, the
// third is short enough to run before it.
func ExampleNew() {
	d, err := backfill.New("easy", 4)
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Pass(0, nil, []backfill.Job{{ID: 1, Width: 3, Length: 60}, {ID: 2, Width: 4, Length: 60}, {ID: 3, Width: 1, Length: 45}, {ID: 4, Width: 1, Length: 90}}))
	fmt.Println(d.Pass(45, []int64{3}, nil))
	fmt.Println(d.Pass(50, []int64{1}, nil))
	// Output:
	// [1 3]
	// []
	// [2]
}

// BenchmarkUnchanged is a pass in which a job comes that cannot start, behind so
// many that cannot either.
func BenchmarkUnchanged(b *testing.B) {
	for _, policy := range backfill.Names() {
		for _, waiting := range []int{1000, 100_000} {
			b.Run(fmt.Sprintf("%s/waiting=%d", policy, waiting), func(b *testing.B) {
				d, err := backfill.New(policy, 1000)
				if err != nil {
					b.Fatal(err)
				}
				jobs := []backfill.Job{{ID: 1, Width: 1000, Length: 3600}}
				for i := range waiting {
					jobs = append(jobs, backfill.Job{ID: int64(i + 2), Width: int64(1 + i*7919%1000), Length: Time(60 * (1 + i*104729%100))})
				}
				d.Pass(0, nil, jobs)
				next := int64(len(jobs))
				for b.Loop() {
					next++
					d.Pass(1, nil, []backfill.Job{{ID: next, Width: 10, Length: 7200}})
				}
			})
		}
	}
}
