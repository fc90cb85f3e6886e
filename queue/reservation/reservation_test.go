package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/reservation"
	"vjob/tests/cpupool"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// simulation is a cluster in sums that advances by seconds. Vjobs use their whole walltimes, and a
// suspended vjob frees its capacity after a delay.
type simulation struct {
	t        *testing.T
	name     string
	rng      *rand.Rand
	policy   queue.Policy
	size     cluster.MilliCPU
	now      time.Time
	jobs     []queue.Job
	leaving  map[cluster.VJobID]int // seconds until a suspension ends
	suspends int                    // how long one takes at most, in seconds
	given    int                    // reservations
}

func (w *simulation) used() (sum cluster.MilliCPU) {
	for i := range w.jobs {
		if j := &w.jobs[i]; j.State == cluster.Running {
			sum += j.Need.CPU
		}
	}
	return sum
}

func (w *simulation) moment() *queue.Input {
	needs := map[cluster.VJobID]cluster.MilliCPU{}
	for i := range w.jobs {
		needs[w.jobs[i].ID] = w.jobs[i].Need.CPU
	}
	return &queue.Input{
		Now: w.now, Jobs: slices.Clone(w.jobs), Total: cluster.Resources{CPU: w.size},
		Capacity: func() queue.Capacity { return &cpupool.Pool{Free: w.size, Needs: needs} },
	}
}

// request requests a reservation and submits it if it is confirmed.
func (w *simulation) request() {
	j := w.draw()
	j.Walltime = time.Duration(1+w.rng.IntN(30)) * time.Second
	j.Reservation = w.now.Add(time.Duration(w.rng.IntN(80)) * time.Second)
	r := reservation.Request{
		Now: w.now, Total: cluster.Resources{CPU: w.size},
		Booking: queue.Booking{From: j.Reservation, Length: j.Walltime, Need: j.Need},
	}
	for i := range w.jobs {
		o := w.jobs[i]
		left, _ := o.Left()
		switch {
		case !o.Reservation.IsZero() && o.State == cluster.Running:
			r.Others = append(r.Others, queue.Booking{VJob: o.ID, From: w.now, Length: left, Need: o.Need})
		case !o.Reservation.IsZero():
			r.Others = append(r.Others, queue.Booking{VJob: o.ID, From: o.Reservation, Length: left, Need: o.Need})
		case o.State == cluster.Running && (o.Preemption == cluster.Never || queue.Keeps(w.policy, o.VJob)):
			r.NonPreemptible = append(r.NonPreemptible, o)
		}
	}
	// Suspensions take time.
	if queue.Keeps(w.policy, &cluster.VJob{Terms: &cluster.Terms{}}) || j.Reservation.Sub(w.now) > time.Duration(2*w.suspends+2)*time.Second {
		if r.Confirm() == nil {
			w.given++
			w.jobs = append(w.jobs, j)
		}
	}
}

func (w *simulation) draw() queue.Job {
	id := cluster.VJobID(1)
	if n := len(w.jobs); n > 0 {
		id = w.jobs[n-1].ID + 1
	}
	j := queue.Job{VJob: &cluster.VJob{ID: id, Terms: &cluster.Terms{}}, Need: cluster.Resources{CPU: cluster.MilliCPU(1 + w.rng.IntN(int(w.size)))}}
	if w.rng.IntN(8) > 0 {
		j.Walltime = time.Duration(1+w.rng.IntN(60)) * time.Second
	}
	if w.rng.IntN(3) == 0 {
		j.Preemption = cluster.Never
	}
	return j
}

// second advances by one: vjobs end with their walltimes, the policy decides, and its targets are
// reached as far as capacity is free.
func (w *simulation) second() {
	w.now = w.now.Add(time.Second)
	w.jobs = slices.DeleteFunc(w.jobs, func(j queue.Job) bool {
		return j.State == cluster.Running && j.Walltime > 0 && j.Ran+time.Second >= j.Walltime ||
			j.Walltime == 0 && w.rng.IntN(40) == 0
	})
	for i := range w.jobs {
		j := &w.jobs[i]
		if j.State == cluster.Running {
			j.Ran += time.Second
		}
		if j.Busy {
			if w.leaving[j.ID]--; w.leaving[j.ID] <= 0 {
				j.Busy, j.State = false, cluster.Suspended
			}
		}
	}
	if w.rng.IntN(3) == 0 {
		w.jobs = append(w.jobs, w.draw())
	}
	if w.rng.IntN(6) == 0 {
		w.request()
	}
	m, lead := w.moment(), time.Duration(w.suspends+1)*time.Second
	verdicts := reservation.Select(queue.Preemptible{Policy: w.policy}, m, reservation.Leads{Suspend: lead, Start: 2 * lead})
	for i, v := range verdicts {
		w.follow(&w.jobs[i], v)
	}
	if w.used() > w.size {
		w.t.Fatalf("%s: %s are in use", w.name, w.used())
	}
}

func (w *simulation) follow(j *queue.Job, v queue.Verdict) {
	switch {
	case j.Busy:
	case v.Target == queue.Suspend && j.State == cluster.Running:
		if !j.Reservation.IsZero() || j.Preemption == cluster.Never && queue.Keeps(w.policy, j.VJob) {
			w.t.Fatalf("%s: vjob %s is parked: %s", w.name, j.ID, v.Reason)
		}
		j.Busy, j.Bound = true, queue.Suspend
		w.leaving[j.ID] = 1 + w.rng.IntN(w.suspends)
	case v.Target == queue.Run && j.State.Ready() && w.used()+j.Need.CPU <= w.size:
		j.State, j.Since = cluster.Running, w.now
	}
	if !j.Reservation.IsZero() && !w.now.Before(j.Reservation) && j.State != cluster.Running {
		w.t.Fatalf("%s: the reservation of vjob %s has begun at %s, %s ago, and it does not run: %s; %s in use",
			w.name, j.ID, j.Reservation.Format(time.TimeOnly), w.now.Sub(j.Reservation), v.Reason, w.used())
	}
}

// Under every policy a confirmed reservation begins in its second, whatever runs and arrives, and
// runs until the end of its walltime.
func TestReservationsBeginInTime(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, policy := range []queue.Policy{
		queue.FCFS{},
		queue.EASY{},
		queue.Conservative{},
		queue.FirstFit{},
		queue.FirstFit{MinRun: 9 * time.Second, Patience: 20 * time.Second},
		queue.DynamicEASY{},
		queue.DynamicEASY{MinRun: 9 * time.Second, Patience: 20 * time.Second},
		queue.TimeSlices{Quantum: 7 * time.Second},
	} {
		given := 0
		for run := range 10 {
			rng := rand.New(rand.NewPCG(seed, uint64(run)))
			w := &simulation{
				t: t, name: fmt.Sprintf("%s, run %d", policy.Name(), run), rng: rng, policy: policy, size: 10, now: noon,
				leaving: map[cluster.VJobID]int{}, suspends: 1 + rng.IntN(6),
			}
			for range 300 {
				w.second()
			}
			given += w.given
		}
		if given < 60 {
			t.Errorf("%s: only %d reservations were confirmed", policy.Name(), given)
		}
	}
}

// job reads "7 running 3 60m @30m": the number, the state, processors, walltime or "-",
// and when its reservation begins, counted from noon.
func job(t *testing.T, line string) queue.Job {
	t.Helper()
	j := queue.Job{VJob: &cluster.VJob{Terms: &cluster.Terms{}}}
	var state, walltime, date string
	if n, err := fmt.Sscan(line, &j.ID, &state, &j.Need.CPU, &walltime, &date); n < 4 {
		t.Fatal(line, err)
	}
	var err error
	if j.State, err = cluster.ParseState(state); err != nil {
		t.Fatal(err)
	}
	j.Need.CPU *= 1000
	span := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(line, err)
		}
		return d
	}
	if walltime != "-" {
		j.Walltime = span(walltime)
	}
	if date != "" {
		j.Reservation = noon.Add(span(date[1:]))
	}
	return j
}

// Reasons with ten processors and a lead of five minutes.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy queue.Policy
		jobs   []string
		want   []string
	}{
		{
			"ahead: a vjob that ends before starts, a longer one waits",
			queue.EASY{},
			[]string{"1 running 2 2h", "2 waiting 8 1h @60m", "3 waiting 4 90m", "4 waiting 8 1h"},
			[]string{
				"run runs",
				"wait waits for its reservation at 13:00, in 1h0m0s",
				"wait waits: in the way is the reservation of vjob 2 at 13:00, which will be there in 2h0m0s at the latest; 1st in line",
				"run runs: it fills a gap without delaying 3",
			},
		},
		{
			"ahead: a preemptible vjob starts",
			queue.FirstFit{},
			[]string{"2 waiting 8 1h @60m", "3 waiting 4 90m", "4 waiting 4 -"},
			[]string{"wait waits for its reservation at 13:00, in 1h0m0s", "run runs: there is room", "run runs: there is room"},
		},
		{
			"near: room is made",
			queue.FirstFit{},
			[]string{"2 waiting 8 1h @4m", "3 running 4 90m", "4 waiting 2 1m", "5 waiting 1 1m"},
			[]string{
				"wait waits for its reservation at 12:04, in 4m0s, for which room is being made",
				"suspend suspended to make room for the reservation of vjob 2 at 12:04",
				"wait waits: in the way is the reservation of vjob 2 at 12:04; 1st in line",
				"wait waits: in the way is the reservation of vjob 2 at 12:04; 2nd in line behind 4",
			},
		},
		{
			"due",
			queue.FCFS{},
			[]string{"3 running 4 90m", "5 waiting 3 1m", "2 waiting 6 1h @0m"},
			[]string{"run runs", "wait waits: in the way is the reservation of vjob 2 at 12:00; 1st in line", "run runs: its reservation begins"},
		},
		{
			"late",
			queue.FCFS{},
			[]string{"3 running 4 90m", "5 waiting 3 1m", "2 waiting 7 1h @-10m"},
			[]string{
				"run runs", "wait waits: in the way is the reservation of vjob 2 at 11:50; 1st in line",
				"wait waits: its reservation began at 11:50, but it cannot start: needs 1 CPU more",
			},
		},
		{
			"it runs and is not suspended",
			queue.FirstFit{},
			[]string{"3 waiting 9 90m", "2 running 7 1h @-10m"},
			[]string{"wait waits: needs 6 CPU more; 1st in line", "run runs: its room is reserved"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &simulation{policy: c.policy, size: 10000, now: noon}
			for _, line := range c.jobs {
				w.jobs = append(w.jobs, job(t, line))
			}
			for i, v := range reservation.Select(c.policy, w.moment(), reservation.Leads{Suspend: 5 * time.Minute, Start: 10 * time.Minute}) {
				if got := v.Target.String() + " " + v.Reason; got != c.want[i] {
					t.Errorf("vjob %s\n got %s\nwant %s", w.jobs[i].ID, got, c.want[i])
				}
			}
		})
	}
}

func TestConfirm(t *testing.T) {
	taken := func(id cluster.VJobID, from, length time.Duration, cpus int64) queue.Booking {
		return queue.Booking{VJob: id, From: noon.Add(from), Length: length, Need: cluster.Resources{CPU: cluster.MilliCPU(cpus * 1000)}}
	}
	others := []queue.Booking{taken(7, time.Hour, time.Hour, 5), taken(9, time.Hour, 150*time.Minute, 3)}
	const h = time.Hour
	for _, c := range []struct {
		name string
		ask  queue.Booking
		kept []string
		want string // "" is yes
	}{
		{"beside both", taken(0, h, 4*h, 12), nil, ""},
		{"before both", taken(0, 0, h, 20), nil, ""},
		{"just past", taken(0, -50*time.Second, time.Minute, 20), nil, ""},
		{
			"past", taken(0, -70*time.Second, time.Minute, 20), nil,
			`reservation: "2026-11-21T11:58:50Z" is not an instant that is not past; it is 2026-11-21T12:00:00Z`,
		},
		{
			"no walltime", taken(0, h, 0, 1), nil,
			"walltime_seconds: 0s is not more than 0: a reservation ends with its walltime",
		},
		{
			"too far ahead", taken(0, 49*h, h, 1), nil,
			`reservation: "2026-11-23T13:00:00Z" is not an instant until 2026-11-23 12:00: that is how far ahead may be reserved`,
		},
		{
			"no room", taken(0, h, h, 13), nil,
			"reservation: at 13:00 only 12 of the 20 CPU are free beside reservations 7 and 9; the earliest start is 14:00",
		},
		{
			"no room in the middle", taken(0, 30*time.Minute, h, 20), nil,
			"reservation: at 13:00 only 12 of the 20 CPU are free beside reservations 7 and 9; the earliest start is 15:30",
		},
		{
			"what runs stays", taken(0, 0, h, 12),
			[]string{"1 running 10 90m"},
			"reservation: at 12:00 only 10 of the 20 CPU are free beside what runs; the earliest start is 13:30",
		},
		{
			"what runs for ever", taken(0, h, h, 12),
			[]string{"1 running 10 -"},
			"reservation: at 13:00 only 2 of the 20 CPU are free beside reservations 7 and 9 and what runs; there is no later start either",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reservation.Request{Now: noon, Horizon: 48 * h, Total: cluster.Resources{CPU: 20000}, Booking: c.ask, Others: others}
			for _, line := range c.kept {
				r.NonPreemptible = append(r.NonPreemptible, job(t, line))
			}
			got := ""
			if err := r.Confirm(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}
