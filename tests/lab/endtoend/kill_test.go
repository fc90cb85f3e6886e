//go:build libvirt_dlopen

package endtoend

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/tests/lab"
)

// The daemons are killed in several labs side by side: most of the time is spent
// waiting until calls of a dead daemon can have no more effect.
const killLanes = 4

// usualKills is how many points of each step a normal run takes.
const usualKills = 8

// everyPoint is the environment variable that requests all points.
const everyPoint = "VJOB_EVERY_POINT"

// The daemon is killed at a point of a switch and started again. Nothing acknowledged is lost, no
// VM runs twice, every gang stays whole, the switch completes, and the guests continue exactly
// where they were.
func TestKilledAnywhere(t *testing.T) {
	all := &tally{points: map[string]int{}, died: map[string]map[string]int{}}
	t.Run("lanes", func(t *testing.T) {
		for lane := range killLanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				killLane(t, lane, all)
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(all.points)) {
		died := 0
		for _, n := range all.died[name] {
			died += n
		}
		t.Logf("MEASURED: %s: killed at %d points of %d: %v", name, died, all.points[name], all.died[name])
	}
	t.Logf("MEASURED: %d vjobs were lost with an alarm, and booted again", all.lost)
}

// killLane is the share of one lab in the points.
func killLane(t *testing.T, lane int, all *tally) {
	t.Helper()
	b := setUp(t, lab.Options{Locks: true})
	defer func() {
		if t.Failed() {
			t.Logf("vjobd:\n%s", b.d.tail())
		}
	}()
	k := &killed{systemTest: b, tally: all}
	all.count.Do(func() { k.cycle(func(string) int { return 0 }) })
	if len(all.points) < len(k.steps()) {
		t.Fatal("the lane that counts the points has failed")
	}
	kills := usualKills
	if os.Getenv(everyPoint) != "" {
		kills = slices.Max(slices.Collect(maps.Values(all.points)))
	}
	for i := lane; i < kills; i += killLanes {
		k.cycle(func(step string) int { return 1 + i*all.points[step]/kills })
	}
}

// tally is what all lanes have done.
type tally struct {
	count  sync.Once                 // the lane that is first counts for all
	points map[string]int            // of each step; set by count
	mu     sync.Mutex                // of what follows
	died   map[string]map[string]int // by step and kind of point
	lost   int
}

func (y *tally) death(step, point string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.died[step] == nil {
		y.died[step] = map[string]int{}
	}
	y.died[step][point]++
}

func (y *tally) losses(n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.lost += n
}

// killed takes one vjob after another through its life.
type killed struct {
	systemTest
	tally *tally
	id    int64 // the present vjob, 0 before its submission was acknowledged
	key   string
	count int
}

// step is one context switch.
type step struct {
	name    string
	prepare func()
	trigger func(context.Context) error
	done    func(wire.VJobDetail) bool
}

func (k *killed) steps() []step {
	h1, h2, h3 := k.lab.Hosts()[0], k.lab.Hosts()[1], k.lab.Hosts()[2]
	is := func(state string) func(wire.VJobDetail) bool {
		return func(j wire.VJobDetail) bool { return j.State == state }
	}
	return []step{
		{"boot", func() { k.online(h1, h2); k.drain(h3) }, k.submitOnce, is("running")},
		{"suspend", func() { k.more(k.id, 2) }, func(ctx context.Context) error {
			_, err := k.d.client.Suspend(ctx, k.id)
			return err
		}, is("suspended")},
		{"resume", func() { k.online(h3); k.drain(h1) }, func(ctx context.Context) error {
			_, err := k.d.client.Resume(ctx, k.id)
			return err
		}, is("running")},
		{"migrate", func() { k.more(k.id, 2); k.online(h1) }, func(ctx context.Context) error {
			return k.d.client.Drain(ctx, string(h2))
		}, func(j wire.VJobDetail) bool {
			return j.State == "running" && !slices.ContainsFunc(j.VMs, func(m wire.VM) bool {
				return m.Node == string(h2) || m.NextNode != ""
			})
		}},
		{"stop", func() { k.more(k.id, 2) }, func(ctx context.Context) error {
			_, err := k.d.client.Delete(ctx, k.id)
			return err
		}, is("terminated")},
	}
}

// submitOnce submits the vjob of the cycle; repeated, it is the same vjob.
func (k *killed) submitOnce(ctx context.Context) error {
	job, _, err := k.d.client.Submit(ctx, wire.Submission{
		Name: "killed", Count: 3,
		Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: 32, Command: []string{"tick=100", "fill=8"}},
	}, k.key)
	if err == nil {
		if k.id != 0 && k.id != job.ID {
			k.Errorf("the submission of vjob %d was repeated and made vjob %d", k.id, job.ID)
		}
		k.id = job.ID
	}
	return err
}

// cycle takes a vjob through all steps. The daemon dies at the given point of
// each; 0 only counts the points.
func (k *killed) cycle(point func(step string) int) {
	k.Helper()
	k.count++
	k.id, k.key = 0, fmt.Sprintf("cycle %d", k.count)
	for _, s := range k.steps() {
		begun := time.Now()
		s.prepare()
		n := point(s.name)
		died := k.dieAt(s, n)
		k.check(s)
		if k.Failed() {
			k.Fatalf("%s, killed at point %d (%s)\n%s", s.name, n, died, story(k.job(k.id)))
		}
		k.Logf("%s: point %d %s, %.1f s", s.name, n, died, time.Since(begun).Seconds())
	}
}

// dieAt makes one switch with one death and one restart, and returns where the
// daemon died.
func (k *killed) dieAt(s step, n int) (died string) {
	k.Helper()
	k.d.kill()
	k.d.start(fmt.Sprintf("VJOB_DIE_AT=%d", n))
	err := s.trigger(k.Context())
	if err != nil && !k.d.dead() {
		k.awaitDeath(s, err)
	}
	acknowledged := err == nil
	k.until(fmt.Sprintf("vjobd dies or ends its %s", s.name), func() bool { return k.d.dead() || acknowledged && k.reached(s) })
	points := k.d.points()
	switch {
	case n == 0:
		k.tally.points[s.name] = len(points)
	case k.d.dead():
		died = points[len(points)-1]
		k.tally.death(s.name, died)
	}
	k.d.kill()
	k.d.start()
	if !acknowledged {
		if err := s.trigger(k.Context()); err != nil && !k.reached(s) {
			k.Logf("%s, asked for again: %v", s.name, err) // it was carried out before the answer was sent
		}
	}
	k.until(fmt.Sprintf("the %s ends", s.name), func() bool { return k.reached(s) })
	return died
}

// awaitDeath waits for a process that did not answer to be gone.
func (k *killed) awaitDeath(s step, err error) {
	k.Helper()
	select {
	case <-k.d.exited:
	case <-time.After(patience):
		k.Fatalf("%s: %v", s.name, err)
	}
}

// reached reports whether a step has ended; a daemon that does not answer has not.
func (k *killed) reached(s step) bool {
	if k.id == 0 {
		return false
	}
	job, err := k.d.client.VJob(k.Context(), k.id)
	return err == nil && s.done(job)
}

// check demands that the gang is whole and its guests are what they were.
func (k *killed) check(s step) {
	k.Helper()
	job := k.job(k.id)
	switch job.State {
	case "running":
		k.runsOn(k.id, k.lab.Hosts()...)
	case "suspended":
		k.nowhere(k.id)
		if images := k.images(k.id); len(images) != len(job.VMs) {
			k.Errorf("a suspended gang of %d has the images %v", len(job.VMs), images)
		}
	default:
		k.nowhere(k.id)
		if images := k.images(k.id); len(images) > 0 {
			k.Errorf("images are left: %v", images)
		}
	}
	told := 0
	for _, e := range job.Events {
		if e.Kind == "alarm" && strings.Contains(e.Text, "lost") {
			told++
		}
	}
	for rank := range job.VMs {
		boots := lives(k.lab.Counters(cluster.VMID{VJob: cluster.VJobID(k.id), Rank: rank}))
		if len(boots) > told+1 {
			k.Errorf("guest %d.%d has booted %d times, and %d losses were told", k.id, rank, len(boots), told)
		}
		for _, counts := range boots {
			if broken := lab.Broken(counts); broken != "" {
				k.Errorf("guest %d.%d: %s", k.id, rank, broken)
			}
		}
	}
	if s.name == "stop" {
		k.tally.losses(told)
	}
	if told > 0 {
		k.Logf("%s: %d losses were told\n%s", s.name, told, story(job))
	}
}
