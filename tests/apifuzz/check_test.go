package apifuzz_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"
)

// facts are what only requests change: not what the loop does by and by.
func (w *world) facts() string {
	var b strings.Builder
	for _, path := range []string{"/v1/users", "/v1/users/alice/tokens", "/v1/users/bob/tokens", "/v1/rules", "/v1/prices"} {
		a := w.ask(w.root, "GET", path, "")
		_, _ = fmt.Fprintf(&b, "%s %d %s\n", path, a.status, a.body)
	}
	a := w.ask(w.root, "GET", "/v1/vjobs?limit=10000", "")
	var list struct {
		VJobs []struct {
			ID                    int64
			Name, Owner           string
			Priority, Replaces    int64
			Held                  bool
			Walltime_seconds      int64
			Outcome, Queue, State string
		} `json:"vjobs"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		return err.Error()
	}
	for _, j := range list.VJobs {
		if j.Replaces == 0 && j.Outcome == "" {
			_, _ = fmt.Fprintln(&b, j.ID, j.Name, j.Owner, j.Priority, j.Walltime_seconds)
		}
	}
	return b.String()
}

// harmless says what a request has changed although it was refused.
func (w *world) harmless(q *request) (a *answer, wrong []string) {
	for range 3 { // the loop may end a vjob meanwhile
		before := w.facts()
		a = serve(w.handler, q)
		if a.status < 400 {
			return a, nil
		}
		after := w.facts()
		if before == after {
			return a, nil
		}
		wrong = []string{"refused, and yet something changed:\n" + difference(before, after)}
	}
	return a, wrong
}

func difference(before, after string) string {
	var b strings.Builder
	for _, pair := range [][3]string{{before, after, "- "}, {after, before, "+ "}} {
		for line := range strings.Lines(pair[0]) {
			if !strings.Contains(pair[1], line) {
				b.WriteString(pair[2] + line)
			}
		}
	}
	return b.String()
}

// tidy ends what the requests have begun, so that the daemon has not ever more to do: all
// vjobs but those of the start, rules, budgets and the states of nodes.
func (w *world) tidy() error {
	for _, r := range [][3]string{
		{"PUT", "/v1/rules", `{"text":""}`}, {"PUT", "/v1/budgets", `{"budgets":[]}`}, {"PUT", "/v1/prices", `{"csv":""}`},
	} {
		if a := w.ask(w.root, r[0], r[1], r[2]); a.status >= 400 {
			return fmt.Errorf("%s: %d %s", r[1], a.status, a.body)
		}
	}
	for i := range 4 {
		node := fmt.Sprintf("/v1/nodes/n%d", i+1)
		w.ask(w.root, "POST", node+"/power", `{"power":"on"}`)
		w.ask(w.root, "PATCH", node, `{"state":"online"}`)
	}
	a := w.ask(w.root, "GET", "/v1/vjobs?live=true&limit=10000", "")
	var list struct {
		VJobs []struct{ ID int64 } `json:"vjobs"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		return err
	}
	for _, j := range list.VJobs {
		if j.ID < firstVJob+started {
			continue
		}
		a := w.ask(w.root, "DELETE", fmt.Sprintf("/v1/vjobs/%d", j.ID), "")
		ended := a.status == http.StatusConflict || a.status == http.StatusNotFound // since it was listed
		if a.status != http.StatusAccepted && !ended {
			return fmt.Errorf("delete %d: %d %s", j.ID, a.status, a.body)
		}
	}
	return nil
}

// size is what the process holds after everything has come to rest.
type size struct {
	heap       uint64 // bytes
	goroutines int
}

func measure() size {
	least := size{heap: 1 << 62, goroutines: 1 << 30}
	for range 5 {
		time.Sleep(100 * time.Millisecond) // connections and timers that end by themselves
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		least = size{min(least.heap, m.HeapAlloc), min(least.goroutines, runtime.NumGoroutine())}
	}
	return least
}

// grown says what has grown beyond what ended vjobs, metrics and caches may take.
func (s size) grown(since size) string {
	if s.heap > since.heap+since.heap/2+(24<<20) {
		return fmt.Sprintf("heap: %d KiB, and %d KiB after the warm-up", s.heap>>10, since.heap>>10)
	}
	if s.goroutines > since.goroutines+8 {
		return fmt.Sprintf("goroutines: %d, and %d after the warm-up", s.goroutines, since.goroutines)
	}
	return ""
}

func (s size) String() string { return fmt.Sprintf("%d KiB, %d goroutines", s.heap>>10, s.goroutines) }
