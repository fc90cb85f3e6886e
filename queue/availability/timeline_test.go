package availability_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vjob/queue/availability"
)

// Time is short here.
type Time = availability.Time

// naive is a timeline with one number a second, constant beyond the last one.
type naive []int64

func (n naive) change(from, to Time, amount int64) {
	for t := from; t < min(to, Time(len(n))); t++ {
		n[t] += amount
	}
}

func (n naive) free(at Time) int64 { return n[min(at, Time(len(n)-1))] }

func (n naive) earliest(from, length Time, amount int64, own Time) Time {
	for start := from; start < min(own, Time(len(n))); start++ {
		if n.room(start, min(start.Plus(length), own), amount) {
			return start
		}
	}
	return own
}

func (n naive) room(from, to Time, amount int64) bool {
	for t := from; t < min(to, Time(len(n))); t++ {
		if n[t] < amount {
			return false
		}
	}
	return n[len(n)-1] >= amount || to <= Time(len(n))
}

// stay is a reservation.
type stay struct {
	from, to Time
	amount   int64
}

// walk makes random reservations, releases some, whole or in part, forgets the past, and compares
// with naive after every step.
func walk(t *testing.T, r *rand.Rand, horizon Time, size int64, steps int) {
	t.Helper()
	p, n := availability.NewTimeline(size), make(naive, horizon)
	n.change(0, horizon, size)
	var stays []stay
	now := Time(0)
	for range steps {
		switch {
		case r.IntN(600) < len(stays):
			i := r.IntN(len(stays))
			s := stays[i]
			stays[i] = stays[len(stays)-1]
			stays = stays[:len(stays)-1]
			p.Release(max(now, s.from), s.to, s.amount)
			n.change(max(now, s.from), s.to, s.amount)
		case r.IntN(20) == 0:
			now += Time(r.IntN(3))
			p.Forget(now)
		default:
			length, amount := 1+Time(r.IntN(20)), 1+r.Int64N(1+size/int64(1+r.IntN(30)))
			amount = min(amount, size)
			if r.IntN(2) == 0 { // over many steps, beside others
				length, amount = 1+Time(r.IntN(int(horizon)/3)), 1+r.Int64N(1+size/50)
			}
			if r.IntN(50) == 0 {
				length, amount = availability.Never, 1
			}
			own := availability.Never
			if r.IntN(2) == 0 {
				own = now + Time(r.IntN(int(horizon)/2))
			}
			from := now + Time(r.IntN(int(horizon)/2))
			got, want := p.Earliest(from, length, amount, own), n.earliest(from, length, amount, own)
			if got != want {
				t.Fatalf("now %d: %d for %d from %d with own %d: %d, want %d", now, amount, length, from, own, got, want)
			}
			s := stay{got, got.Plus(length), amount}
			if own == availability.Never && got < horizon/2 && (length < availability.Never || r.IntN(10) == 0) {
				p.Reserve(s.from, s.to, s.amount)
				n.change(s.from, s.to, -s.amount)
				stays = append(stays, s)
			}
		}
		for range 5 {
			if at := now + Time(r.IntN(int(horizon))); p.Free(at) != n.free(at) {
				t.Fatalf("now %d: %d free at %d, want %d", now, p.Free(at), at, n.free(at))
			}
		}
	}
}

// A timeline equals the naive one.
func TestNaive(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			walk(t, r, 100+Time(r.IntN(4000)), 1+r.Int64N(40), 400)
		})
	}
	for seed := range uint64(6) { // hundreds of steps, in many chunks
		t.Run(fmt.Sprintf("many/seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 6))
			walk(t, r, 6000, 400, 4000)
		})
	}
}

// Once all is released, everything is free.
func TestAllBack(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 2))
	p := availability.NewTimeline(100)
	var stays []stay
	for range 5000 {
		length, amount := 1+Time(r.IntN(1000)), 1+r.Int64N(100)
		if r.IntN(3) == 0 {
			length, amount = 20*length, 1
		}
		from := p.Earliest(Time(r.IntN(50_000)), length, amount, availability.Never)
		p.Reserve(from, from+length, amount)
		stays = append(stays, stay{from, from + length, amount})
	}
	r.Shuffle(len(stays), func(i, k int) { stays[i], stays[k] = stays[k], stays[i] })
	for i, s := range stays {
		p.Release(s.from, s.to, s.amount)
		free := int64(100)
		for _, other := range stays[i+1:] {
			if other.from <= s.from && s.from < other.to {
				free -= other.amount
			}
		}
		if got := p.Free(s.from); got != free {
			t.Fatalf("seed %d: %d free at %d, want %d", seed, got, s.from, free)
		}
	}
	if at := p.Earliest(0, availability.Never, 100, availability.Never); at != 0 {
		t.Errorf("seed %d: everything is free from %d on, want 0", seed, at)
	}
}

// Requests that never fit.
func TestNoPlace(t *testing.T) {
	p := availability.NewTimeline(4)
	if at := p.Earliest(5, 1, 5, availability.Never); at != availability.Never {
		t.Errorf("more than there is: %d", at)
	}
	p.Reserve(10, availability.Never, 2)
	if at := p.Earliest(5, 6, 3, availability.Never); at != availability.Never {
		t.Errorf("beside what has no end: %d", at)
	}
	if at := p.Earliest(5, 5, 3, availability.Never); at != 5 {
		t.Errorf("before what has no end: %d", at)
	}
	if at := p.Earliest(5, 20, 3, 9); at != 5 {
		t.Errorf("with room of its own from 9 on: %d, want 5", at)
	}
}

// Reserving or releasing too much panics.
func TestTooMuch(t *testing.T) {
	for name, f := range map[string]func(p *availability.Timeline){
		"reserve": func(p *availability.Timeline) { p.Reserve(0, 5, 3); p.Reserve(4, 6, 2) },
		"release": func(p *availability.Timeline) { p.Reserve(0, 5, 3); p.Release(0, 6, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(availability.NewTimeline(4))
		})
	}
}

func TestPlus(t *testing.T) {
	for _, c := range [][3]Time{{1, 2, 3}, {1, availability.Never, availability.Never}, {availability.Never, 1, availability.Never}, {-5, 3, -2}, {availability.Never - 1, 1, availability.Never}} {
		if got := c[0].Plus(c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func Example() {
	p := availability.NewTimeline(8)
	p.Reserve(0, 60, 6)
	p.Reserve(60, 90, 8)
	fmt.Println(p.Free(30), p.Earliest(0, 60, 2, availability.Never), p.Earliest(0, 61, 2, availability.Never))
	p.Release(70, 90, 8) // it ended early
	fmt.Println(p.Earliest(0, 61, 2, availability.Never))
	// Output:
	// 2 0 90
	// 70
}

// CPU and memory together: ask both in turn.
func ExampleProfile_Earliest() {
	processors, memory := availability.NewTimeline(8), availability.NewTimeline(64)
	processors.Reserve(0, 60, 6)
	memory.Reserve(50, 200, 40)
	at := Time(0)
	for last := Time(-1); at != last; {
		last = at
		at = processors.Earliest(at, 100, 4, availability.Never)
		at = memory.Earliest(at, 100, 32, availability.Never)
	}
	fmt.Println(at)
	// Output: 200
}

// BenchmarkMove measures compression: it releases one of many reservations and makes it again at its
// earliest start.
func BenchmarkMove(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("reservations=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 3))
			p := availability.NewTimeline(1000)
			stays := make([]stay, n)
			for i := range stays {
				length, amount := 600*(1+Time(r.IntN(100))), 1+r.Int64N(300)
				from := p.Earliest(0, length, amount, availability.Never)
				p.Reserve(from, from+length, amount)
				stays[i] = stay{from, from + length, amount}
			}
			for b.Loop() {
				s := &stays[r.IntN(n)]
				p.Release(s.from, s.to, s.amount)
				from := p.Earliest(0, s.to-s.from, s.amount, availability.Never)
				*s = stay{from, from + s.to - s.from, s.amount}
				p.Reserve(s.from, s.to, s.amount)
			}
		})
	}
}
