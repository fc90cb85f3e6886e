// Package apifuzz_test sends requests to a whole daemon that its own OpenAPI document makes
// up, by callers of every kind, and holds each answer against what is right: no fault of the
// server, nothing of another user, nothing that the document does not say, no growth.
package apifuzz_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vjob/tests/pace"
)

var (
	requests = flag.Uint64("requests", 100_000/pace.Slower, "how many requests TestRequests makes")
	start    = flag.Uint64("first", 0, "the number of the first request")
	round    = flag.Uint64("round", 200_000, "after how many of them it begins with a new daemon")
	seed     = flag.Uint64("seed", 1, "of the requests")
	only     = flag.Uint64("only", 0, "make this one request")
	progress = flag.Uint64("progress", 100_000, "after how many requests a line is printed")
	workers  = flag.Int("workers", 2, "how many requests are made at once")
)

// tally is what a run came to.
type tally struct {
	mu     sync.Mutex
	seen   map[string]map[int]int // by operation and kind of caller: how many of each status
	faults map[string][]string    // the first requests of each fault, by what it is
	count  map[string]int
	told   map[string]bool
}

func newTally() *tally {
	return &tally{seen: map[string]map[int]int{}, faults: map[string][]string{}, count: map[string]int{}, told: map[string]bool{}}
}

func (y *tally) add(q *request, a *answer, wrong []string) {
	kind := "none"
	switch {
	case q.caller.admin:
		kind = "admin"
	case q.caller.name != "":
		kind = "user"
	}
	key := q.op.name + " " + kind
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.seen[key] == nil {
		y.seen[key] = map[int]int{}
	}
	y.seen[key][a.status]++
	for _, text := range wrong {
		name := q.op.name + ": " + shape.Replace(text[:min(len(text), 60)])
		if y.count[name]++; y.count[name] <= 2 {
			y.faults[name] = append(y.faults[name], fmt.Sprintf("%s\n    %s\n    answer %d %.400q", text, q, a.status, a.body))
		}
	}
}

var shape = strings.NewReplacer("0", "N", "1", "N", "2", "N", "3", "N", "4", "N", "5", "N", "6", "N", "7", "N", "8", "N", "9", "N")

// TestRequests makes many requests.
func TestRequests(t *testing.T) {
	y := newTally()
	began := time.Now()
	t.Logf("seed %d", *seed)
	end := *start + *requests
	for first := *start; first < end; first += *round {
		y.run(t, first, min(first+*round, end))
		t.Logf("%d requests in %s", min(first+*round, end)-*start, time.Since(began).Round(time.Second))
	}
	y.covered(t)
	y.report(t)
}

// run makes the requests of one daemon.
func (y *tally) run(t *testing.T, from, to uint64) {
	t.Helper()
	w := newWorld(t)
	defer w.close()
	g := &generator{seed: *seed, ops: operations(w.doc), callers: w.callers, extra: int(to-from) / 50}
	if *only > 0 {
		q := g.request(*only)
		t.Log(q)
		y.judge(w, q)
		return
	}
	stop := y.listen(w)
	warm := from + (to-from)/4
	y.make(t, w, g, from, warm)
	before := measure()
	y.make(t, w, g, warm, to)
	after := measure()
	t.Logf("after the warm-up %s, at the end %s", before, after)
	if text := after.grown(before); text != "" {
		t.Errorf("seed %d: %s", *seed, text)
	}
	stop()
	for _, line := range w.faults.take() {
		y.faults["log"] = append(y.faults["log"], line)
		y.count["log"]++
	}
}

// make makes requests side by side, and tidies up now and then.
func (y *tally) make(t *testing.T, w *world, g *generator, from, to uint64) {
	t.Helper()
	const piece = 2000
	for ; from < to; from += piece {
		var next atomic.Uint64
		next.Store(from)
		var joined sync.WaitGroup
		for range *workers {
			joined.Go(func() {
				for n := next.Add(1) - 1; n < min(from+piece, to); n = next.Add(1) - 1 {
					y.judge(w, g.request(n))
				}
			})
		}
		joined.Wait()
		y.spot(w, g, from)
		if err := w.tidy(); err != nil {
			t.Errorf("tidy up before request %d: %v", from+piece, err)
		}
		y.tell(t)
		if done := from + piece; done%*progress == 0 {
			t.Logf("up to request %d: %d kinds of faults", done, len(y.faults))
		}
	}
}

// tell says at once what is wrong for the first time: a long run ends much later.
func (y *tally) tell(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(y.faults)) {
		if !y.told[name] {
			y.told[name] = true
			t.Logf("%s\n  %s", name, y.faults[name][0])
		}
	}
}

func (y *tally) judge(w *world, q *request) {
	w.hear(q)
	a := serve(w.handler, q)
	y.add(q, a, w.judge(q, a))
}

// spot makes some requests while nothing else is asked, and compares what there is before and
// after those that are refused.
func (y *tally) spot(w *world, g *generator, number uint64) {
	for n, made := number<<20|1<<60, 0; made < 8; n++ {
		if q := g.request(n); q.method != "GET" {
			a, wrong := w.harmless(q)
			y.add(q, a, append(wrong, w.judge(q, a)...))
			made++
		}
	}
}

// listen keeps a stream of events open for each user, and looks at all that it brings.
func (y *tally) listen(w *world) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var joined sync.WaitGroup
	for _, c := range w.callers[1:4] {
		q := &request{caller: c, op: &operation{name: "listEvents"}, method: "GET", path: "/v1/events", header: http.Header{"Accept": {"text/event-stream"}}}
		c.sign(q.header)
		s := &stream{answer: answer{header: http.Header{}}, look: func(piece []byte) {
			if text := w.leak(q, piece); text != "" {
				y.add(q, &answer{status: http.StatusOK}, []string{"the stream tells of another: " + text})
			}
		}}
		joined.Go(func() {
			for ctx.Err() == nil {
				w.handler.ServeHTTP(s, q.http().WithContext(ctx))
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	return func() {
		cancel()
		joined.Wait()
	}
}

// report makes each fault an error of the test.
func (y *tally) report(t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(y.faults)) {
		t.Errorf("%s (%d times)\n  %s", name, y.count[name], strings.Join(y.faults[name], "\n  "))
	}
}

// covered shows which statuses each operation gave to which kind of caller.
func (y *tally) covered(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(y.seen)) {
		t.Logf("%s: %v", key, y.seen[key])
	}
}
