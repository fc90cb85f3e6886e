//go:build libvirt_dlopen

package endtoend

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/tests/lab"
)

// A vjob's whole life, with everything that a context switch can do to it.
func TestSwitches(t *testing.T) {
	b := setUp(t, lab.Options{Locks: true, ImageDiskMiB: 512})
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]

	b.run("a vjob runs and ends by itself", func(b systemTest) {
		id := b.submit(gang{name: "short", vms: 2, mib: 24, words: "run=12"})
		b.state(id, "terminated")
		for rank := range 2 {
			text := b.console(id, rank)
			counts := lab.ParseCounts(text)
			if len(counts) != 13 || lab.Broken(counts) != "" || !strings.Contains(string(text), "DONE") {
				b.Errorf("the console of guest %d has %d counts: %s\n%s", rank, len(counts), lab.Broken(counts), text)
			}
		}
		b.nowhere(id)
		if left := b.images(id); len(left) > 0 {
			b.Errorf("images are left: %v", left)
		}
	})

	b.run("a more important vjob takes the room", func(b systemTest) {
		b.drain(h3)
		low := b.started(gang{name: "low", vms: 3, mib: 40, words: "fill=8"})
		b.runsOn(low, h1, h2)
		b.online(h3)
		high := b.submit(gang{
			name: "high", vms: 3, mib: 100, priority: 10, words: "run=60",
			rules: "continuous spread($VMS);",
		})
		b.state(low, "suspended")
		b.nowhere(low)
		images := b.images(low)
		if len(images) != 3 {
			b.Errorf("images of a suspended gang of 3: %v", images)
		}
		logSkews(b, b.plan(low, "suspend"), low)
		_, err := b.d.client.Hold(b.Context(), low) // until its old hosts are closed
		b.must(err)
		b.state(high, "running")
		b.runsOn(high, h1, h2, h3)
		stood := b.counts(low)
		b.state(high, "terminated")
		b.nowhere(high)
		b.drain(h1, h2)
		if again := b.counts(low); !slices.EqualFunc(stood, again, slices.Equal) {
			b.Error("guests of a suspended vjob have counted")
		}
		_, err = b.d.client.Release(b.Context(), low)
		b.must(err)
		b.state(low, "running")
		b.more(low, 3)
		b.runsOn(low, h3)
		b.gapless(low)
		logSkews(b, b.plan(low, "resume"), low)
		b.until("the images of a resumed vjob are deleted", func() bool { return len(b.images(low)) == 0 })
	})

	b.run("a node is drained while its guests run", func(b systemTest) {
		b.drain(h3)
		id := b.started(gang{name: "moving", vms: 3, mib: 40, words: "fill=8"})
		b.online(h3)
		b.drain(h1)
		b.leaves(id, h1)
		b.more(id, 3)
		b.runsOn(id, h2, h3)
		b.gapless(id)
		for _, a := range b.plan(id, "migrate").Actions {
			if a.Kind == "migrate" && (!a.Live || a.State != "done") {
				b.Errorf("%s of %s: live %t, %s", a.Kind, a.VM, a.Live, a.State)
			}
		}
	})

	b.run("nine guests are paused within", func(b systemTest) {
		id := b.started(gang{name: "nine", vms: 9, mib: 32})
		for range 3 {
			_, err := b.d.client.Suspend(b.Context(), id)
			b.must(err)
			b.state(id, "suspended")
			b.nowhere(id)
			found := logSkews(b, b.plan(id, "suspend"), id)
			if s, ok := found["pause"]; !ok {
				b.Error("the plan shows no skew of the pause")
			} else if s >= 150*time.Millisecond {
				b.Logf("MEASURED: a skew of %s is over the goal of 150 ms", s)
			}
			_, err = b.d.client.Resume(b.Context(), id)
			b.must(err)
			b.state(id, "running")
			b.more(id, 2)
			logSkews(b, b.plan(id, "resume"), id)
		}
		b.runsOn(id, h1, h2, h3)
		b.gapless(id)
	})
	b.faults()
	b.d.stop()
}

// Without a lock nothing prevents two writers: a gang is paused to be moved.
func TestMovesWithoutLock(t *testing.T) {
	b := setUp(t, lab.Options{})
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.run("a node is drained", func(b systemTest) {
		b.drain(h3)
		id := b.started(gang{name: "moving", vms: 3, mib: 40, words: "fill=8"})
		b.online(h3)
		b.drain(h1)
		b.leaves(id, h1)
		b.more(id, 3)
		b.runsOn(id, h2, h3)
		b.gapless(id)
		plan := b.plan(id, "migrate")
		for _, a := range plan.Actions {
			if a.Kind == "migrate" && (a.Live || a.State != "done") {
				b.Errorf("%s of %s: live %t, %s", a.Kind, a.VM, a.Live, a.State)
			}
		}
		if _, ok := logSkews(b, plan, id)["pause"]; !ok {
			b.Error("the plan shows no pause")
		}
	})
	b.d.stop()
}

// logSkews logs and returns how far apart the members were paused and resumed.
func logSkews(b systemTest, p wire.Plan, id int64) map[string]time.Duration {
	b.Helper()
	found := skews(p, id)
	b.Logf("MEASURED: plan %d took %.2f s, %d actions, skews %v", p.ID, p.TookSeconds, p.ActionCount, found)
	return found
}
