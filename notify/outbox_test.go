package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/notify"
)

// hosts is a carrier of a network in which some hosts never answer.
type hosts struct {
	dead map[string]bool

	mu     sync.Mutex
	now    map[string]int // attempts under way, by host
	most   map[string]int // at once
	tries  map[string][]time.Time
	taken  []notify.Message
	arrive map[string]time.Time // of the first message
}

func newHosts(dead ...string) *hosts {
	h := &hosts{dead: map[string]bool{}, now: map[string]int{}, most: map[string]int{}, tries: map[string][]time.Time{}, arrive: map[string]time.Time{}}
	for _, name := range dead {
		h.dead[name] = true
	}
	return h
}

var errSilent = errors.New("no answer")

// Carry takes a message, or waits as long as it may.
func (h *hosts) Carry(ctx context.Context, to notify.Address, m *notify.Message) error {
	name := to.Mail
	if to.URL != nil {
		name = to.URL.Hostname()
	}
	h.mu.Lock()
	h.tries[name] = append(h.tries[name], time.Now())
	h.now[name]++
	h.most[name] = max(h.most[name], h.now[name])
	dead := h.dead[name]
	h.mu.Unlock()
	if dead {
		<-ctx.Done()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now[name]--
	if dead {
		return errSilent
	}
	if _, known := h.arrive[name]; !known {
		h.arrive[name] = time.Now()
	}
	h.taken = append(h.taken, *m)
	return nil
}

// revive lets a host answer from now on.
func (h *hosts) revive(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.dead, name)
}

// bench is a poster on a network, with the events that owners get.
type bench struct {
	t *testing.T // on virtual time
	*source
	*hosts
	config notify.PosterSettings
	poster *notify.Poster
	stop   func()
	told   []journal.Event
}

// onNetwork runs a test on virtual time.
func onNetwork(t *testing.T, dead []string, change, check func(*bench)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "letters")
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, source: &source{notify: map[cluster.VJobID][]string{}, owners: map[cluster.VJobID]string{}}, hosts: newHosts(dead...)}
		b.config = notify.PosterSettings{
			Source: b.source, File: file, Now: time.Now, Hook: b.hosts, Mail: b.hosts,
			Report: func(_ context.Context, e journal.Event) error {
				b.told = append(b.told, e)
				return nil
			},
		}
		change(b)
		b.poster, b.stop = run(t, b.config)
		synctest.Wait()
		check(b)
	})
}

// happens lets vjobs begin to run, and time pass.
func (b *bench) happens(d time.Duration, ids ...cluster.VJobID) {
	for _, id := range ids {
		b.add(id, cluster.Running)
	}
	b.poster.Notify()
	time.Sleep(d)
	synctest.Wait()
}

// A host that never answers holds back neither other hosts nor other users, has few
// attempts under way, and is tried less and less often. The owner gets one event. When it
// answers again it gets everything.
func TestDeadHostHoldsNothingBack(t *testing.T) {
	const dead = "dead.example.org"
	onNetwork(t, []string{dead}, func(b *bench) {
		for i := range 8 {
			b.notify[1] = append(b.notify[1], fmt.Sprintf("https://%s/%d", dead, i))
		}
		b.notify[2], b.notify[3] = []string{"https://alive.example.org/"}, []string{"https://other.example.org/"}
		b.owners[3] = "bob"
	}, func(b *bench) {
		t := b.t
		began := time.Now()
		b.happens(6*time.Hour, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3)
		for _, name := range []string{"alive.example.org", "other.example.org"} {
			if at, ok := b.arrive[name]; !ok || at.Sub(began) > 2*time.Second {
				t.Errorf("%s was told after %s (%t), behind 80 letters to a host that does not answer", name, at.Sub(began), ok)
			}
		}
		if most := b.most[dead]; most > 2 {
			t.Errorf("%d attempts at once at a host that does not answer", most)
		}
		if n := len(b.tries[dead]); n > 40 {
			t.Errorf("a host that does not answer was tried %d times in six hours", n)
		}
		if len(b.told) != 1 || b.told[0].Kind != journal.EventNotify || b.told[0].VJob != 1 || !strings.Contains(b.told[0].Text, dead) {
			t.Errorf("events for owners: %+v", b.told)
		}
		before := len(b.taken)
		b.revive(dead)
		b.happens(2 * time.Hour)
		if n := len(b.taken) - before; n != 80 {
			t.Errorf("a host that answers again got %d messages, want 80", n)
		}
		b.stop()
	})
}

// What has waited for a day is dropped, and then nothing is tried any more.
func TestDayIsEnough(t *testing.T) {
	const dead = "dead.example.org"
	onNetwork(t, []string{dead}, func(b *bench) { b.notify[1] = []string{"https://" + dead} }, func(b *bench) {
		t := b.t
		b.happens(25*time.Hour, 1)
		n := len(b.tries[dead])
		b.revive(dead)
		b.happens(25 * time.Hour)
		if len(b.tries[dead]) != n || len(b.taken) != 0 {
			t.Errorf("%d attempts, then %d", n, len(b.tries[dead]))
		}
		b.stop()
	})
}

// A user with letters to many hosts that never answer has few attempts under way, and
// others have theirs at once.
func TestOwnersTakeTurns(t *testing.T) {
	var dead []string
	for i := range 200 {
		dead = append(dead, fmt.Sprintf("h%d.example.org", i))
	}
	onNetwork(t, dead, func(b *bench) {
		for i, name := range dead {
			id := cluster.VJobID(i/8 + 1)
			b.notify[id] = append(b.notify[id], "https://"+name)
		}
		b.notify[99], b.owners[99] = []string{"https://alive.example.org"}, "bob"
	}, func(b *bench) {
		t := b.t
		for id := range cluster.VJobID(25) {
			b.add(id+1, cluster.Running)
		}
		began := time.Now()
		b.happens(time.Minute, 99)
		if at, ok := b.arrive["alive.example.org"]; !ok || at.Sub(began) > 2*time.Second {
			t.Errorf("told after %s (%t), behind letters of another user", at.Sub(began), ok)
		}
		at := map[time.Time]int{}
		for _, tries := range b.tries {
			for _, began := range tries {
				at[began]++
			}
		}
		for began, n := range at {
			if n > 5 {
				t.Errorf("%d attempts began at %s, want 4 for each owner at most", n, began)
			}
		}
		b.stop()
	})
}

// Memory is bounded: the user with the most letters loses the oldest, and gets one event.
func TestMostLettersLose(t *testing.T) {
	const dead = "dead.example.org"
	onNetwork(t, []string{dead}, func(b *bench) {
		b.notify[1], b.notify[2], b.owners[2] = []string{"https://" + dead}, []string{"https://" + dead}, "bob"
	}, func(b *bench) {
		t := b.t
		b.add(2, cluster.Terminated)
		for range 6000 {
			b.add(1, cluster.Running)
		}
		b.happens(time.Minute, 1)
		b.stop()
		data, err := os.ReadFile(b.config.File)
		if err != nil {
			t.Fatal(err)
		}
		var kept struct {
			Waiting []struct{ Message notify.Message }
		}
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
		bobs := 0
		for _, l := range kept.Waiting {
			if l.Message.Owner == "bob" {
				bobs++
			}
		}
		if len(kept.Waiting) != 5000 || bobs != 1 {
			t.Errorf("%d letters wait, %d of bob", len(kept.Waiting), bobs)
		}
		if len(b.told) != 1 || b.told[0].VJob != 1 {
			t.Errorf("%d events for owners", len(b.told))
		}
	})
}

// A flood of mails is bundled: 480 of them become as many as the rate allows at most, and
// every address learns of every event.
func TestFloodIsBundled(t *testing.T) {
	onNetwork(t, nil, func(b *bench) {
		b.config.Rates.Mails = 60
		for id := range cluster.VJobID(60) {
			for i := range 8 {
				b.notify[id+1] = append(b.notify[id+1], fmt.Sprintf("mail:user%d@example.org", i))
			}
		}
	}, func(b *bench) {
		t := b.t
		for id := range cluster.VJobID(60) {
			b.add(id+1, cluster.Terminated)
		}
		b.happens(time.Hour)
		if n := len(b.taken); n > 60 {
			t.Errorf("%d mails in an hour, want 60 at most", n)
		}
		var all strings.Builder
		for _, m := range b.taken {
			all.WriteString(m.Body())
		}
		for id := range cluster.VJobID(60) {
			if n := strings.Count(all.String(), fmt.Sprintf("vjob %d is terminated", id+1)); n != 8 {
				t.Errorf("vjob %d was told %d times, want once to each of 8 addresses", id+1, n)
			}
		}
		b.stop()
	})
}

// Mails within the rate go one by one, those above it are bundled and wait for their turn;
// calls keep their form, and wait.
func TestRates(t *testing.T) {
	onNetwork(t, nil, func(b *bench) {
		b.config.Rates = notify.Rates{Mails: 4, Calls: 4}
		b.notify[1], b.notify[2] = []string{"mail:ann@example.org"}, []string{"https://hooks.example.org"}
	}, func(b *bench) {
		t := b.t
		b.happens(time.Minute, 1, 1, 1, 1)
		b.happens(time.Minute, 1, 1, 1)
		if n := len(b.tries["ann@example.org"]); n != 4 {
			t.Errorf("%d mails before the rate allows more, want 4", n)
		}
		b.happens(time.Hour)
		if n := len(b.tries["ann@example.org"]); n != 5 || !strings.Contains(b.taken[4].Subject(), "3 notifications") {
			t.Errorf("%d mails, want 4 and a bundle: %s", n, b.taken[4].Subject())
		}
		b.happens(time.Minute, 2, 2, 2, 2, 2, 2)
		if n := len(b.tries["hooks.example.org"]); n != 4 {
			t.Errorf("%d calls before the rate allows more, want 4", n)
		}
		b.happens(time.Hour)
		if n := len(b.tries["hooks.example.org"]); n != 6 {
			t.Errorf("%d calls, want 6", n)
		}
		b.stop()
	})
}

// Letters that an older version wrote, without the time since they are owed, are delivered.
func TestOlderLetters(t *testing.T) {
	onNetwork(t, nil, func(b *bench) {
		const letters = `{"cursor": 7, "waiting": [
			{"to": "exec:/bin/sh", "message": {"event": 5, "vjob": 1}, "tries": 0, "next": "1999-01-01T00:00:00Z"},
			{"to": "mail:ann@example.org", "message": {"event": 6, "vjob": 1, "owner": "ann"}, "tries": 3, "next": "1999-01-01T00:00:00Z"}]}`
		if err := os.WriteFile(b.config.File, []byte(letters), 0o600); err != nil {
			t.Fatal(err)
		}
	}, func(b *bench) {
		t := b.t
		b.happens(time.Minute)
		b.stop()
		if len(b.taken) != 1 || b.taken[0].Seq != 6 {
			t.Errorf("delivered %+v", b.taken)
		}
	})
}
