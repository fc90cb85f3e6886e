//go:build libvirt_dlopen

package endtoend

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/tests/lab"
)

// What a node, a disk or a mount does to images loses none of them.
func TestImagesAreKept(t *testing.T) {
	b := besideSlowImages(t)
	b.run("a node refuses the images", systemTest.refusedImages)
	b.run("the store has no room for the notes beside images", systemTest.noInodes)
	b.run("vjobd starts without the store", systemTest.storeAway)
	b.d.stop()
}

// Images that take long to load are loaded, whatever dies meanwhile.
func TestImagesAreLoadedSlowly(t *testing.T) {
	b := besideSlowImages(t)
	b.run("by all", systemTest.slowStore)
	b.run("vjobd and libvirtd die meanwhile", systemTest.killedWhileLoading)
	b.d.stop()
}

// besideSlowImages starts a daemon beside an image store that can be slowed down.
func besideSlowImages(t *testing.T) systemTest {
	t.Helper()
	b := setUp(t, lab.Options{Locks: true, SlowImages: true})
	b.d.stop()
	b.d.configure(b.lab, func(s *settings.Settings) {
		s.Libvirt.Emulator = b.lab.Config().Emulator
		s.Limits.StoreLag.Duration = 5 * time.Second
	})
	b.d.start()
	return b
}

// suspend suspends a new gang of two and returns it with its images.
func (b systemTest) suspend(name string) (id int64, images map[string]string) {
	b.Helper()
	id = b.started(gang{name: name, vms: 2, mib: 32, words: "fill=12"})
	b.order(b.d.client.Suspend, id)
	b.state(id, "suspended")
	images = b.images(id)
	if len(images) != 2 {
		b.Fatalf("images of a suspended gang of 2: %v", images)
	}
	return id, images
}

func (b systemTest) order(give func(context.Context, int64) (wire.VJob, error), id int64) {
	b.Helper()
	_, err := give(b.Context(), id)
	b.must(err)
}

// continues checks that a gang runs, that its guests count on from where they were, and that
// no alarm reports a loss.
func (b systemTest) continues(id int64) {
	b.Helper()
	b.state(id, "running")
	b.more(id, 3)
	b.gapless(id)
	b.runsOn(id, b.lab.Hosts()...)
	if job := b.job(id); slices.ContainsFunc(job.Events, func(e wire.Event) bool {
		return e.Kind == "alarm" && (strings.Contains(e.Text, "lost:") || strings.Contains(e.Text, "neither a copy"))
	}) {
		b.Errorf("a loss was told\n%s", story(job))
	}
}

// refusedImages: one node has a QEMU that does not know the machine, another cannot read
// images; the third restores the gang.
func (b systemTest) refusedImages() {
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.drain(h2, h3)
	id, images := b.suspend("refused")
	b.drain(h1)
	b.online(h2)
	b.lab.OtherRelease(h2, "pc-i440fx-6.2")
	b.lab.Images.LimitReads(h3, 0, 2000)
	b.order(b.d.client.Resume, id)
	b.until("the node has refused an image", func() bool { return b.says(id, "not restored on "+string(h2)) })
	b.online(h3)
	b.until("another node has not read an image", func() bool { return b.says(id, "not restored on "+string(h3)) })
	if now := b.images(id); len(now) != len(images) {
		b.Errorf("images %v became %v", images, now)
	}
	b.online(h1)
	b.continues(id)
	b.runsOn(id, h1)
	b.lab.OtherRelease(h2, "")
	b.lab.Images.LimitReads(h3, 0, 0)
}

// says reports whether the reason or an event of a vjob contains a text.
func (b systemTest) says(id int64, what string) bool {
	b.Helper()
	job := b.job(id)
	return strings.Contains(job.Reason, what) ||
		slices.ContainsFunc(job.Events, func(e wire.Event) bool { return strings.Contains(e.Text, what) })
}

// slowStore: copies that are half loaded do not count as restored when a restore has not
// ended in time. What is read of the images then breaks off.
func (b systemTest) slowStore() {
	id, _ := b.suspend("slow")
	b.readImages(200, 8000) // for forty seconds
	b.order(b.d.client.Resume, id)
	b.until("a restore is overdue", func() bool { return b.says(id, "no reply") })
	b.until("the restores have failed", func() bool {
		found, err := b.eyes.copies(b.Context(), cluster.VJobID(id))
		return err == nil && len(found) == 0
	})
	b.readImages(0, 0)
	b.continues(id)
}

// readImages sets how all hosts read images.
func (b systemTest) readImages(perSecond, failAfter int) {
	b.Helper()
	for _, h := range b.lab.Hosts() {
		b.lab.Images.LimitReads(h, perSecond, failAfter)
	}
}

// killedWhileLoading: nor do they when vjobd or libvirtd has died meanwhile.
func (b systemTest) killedWhileLoading() {
	id, _ := b.suspend("loaded")
	b.loadsSlowly(id, func(map[cluster.NodeID]bool) {
		b.d.kill()
		b.d.start()
	})
	b.order(b.d.client.Suspend, id)
	b.state(id, "suspended")
	b.loadsSlowly(id, func(hosts map[cluster.NodeID]bool) {
		for h := range hosts {
			b.lab.KillDaemon(h)
			b.lab.RestartDaemon(h)
		}
	})
}

// loadsSlowly resumes a gang from images that take twelve seconds or so, and does something
// while they are read, with the hosts that read them.
func (b systemTest) loadsSlowly(id int64, meanwhile func(hosts map[cluster.NodeID]bool)) {
	b.Helper()
	b.readImages(1024, 0)
	b.order(b.d.client.Resume, id)
	hosts := map[cluster.NodeID]bool{}
	b.until("copies are loaded", func() bool {
		found, err := b.eyes.copies(b.Context(), cluster.VJobID(id))
		for _, on := range found {
			for h := range on {
				hosts[h] = true
			}
		}
		return err == nil && len(found) == 2
	})
	meanwhile(hosts)
	b.continues(id)
	b.readImages(0, 0)
}

// noInodes: images are whole and cannot be sealed. Once they can, the gang is suspended.
func (b systemTest) noInodes() {
	id := b.started(gang{name: "unsealed", vms: 2, mib: 32, words: "fill=12"})
	b.order(b.d.client.Suspend, id)
	b.until("the images grow", func() bool { return len(b.imageFiles(id)) == 2 })
	b.lab.Images.UseUpInodes(0)
	time.Sleep(10 * time.Second) // longer than lost images were left in peace
	if left := b.imageFiles(id); b.job(id).State != "running" && len(left) != 2 {
		b.Errorf("images are left of two: %v\n%s", left, story(b.job(id)))
	}
	b.lab.Images.FreeInodes()
	if b.job(id).Held {
		b.order(b.d.client.Release, id)
	}
	b.state(id, "suspended")
	b.order(b.d.client.Resume, id)
	b.continues(id)
}

// storeAway: vjobd dies while a gang is saved, and starts before the store is mounted.
func (b systemTest) storeAway() {
	id := b.started(gang{name: "away", vms: 2, mib: 32, words: "fill=12"})
	b.order(b.d.client.Suspend, id)
	b.until("the images grow", func() bool { return len(b.imageFiles(id)) == 2 })
	b.d.kill()
	b.lab.Images.Unmount()
	b.d.start()
	time.Sleep(10 * time.Second) // twice the time for which nothing may be seen
	left, err := filepath.Glob(b.lab.Config().ImageDir + "/*")
	b.must(err)
	if len(left) != 0 {
		b.Errorf("in the empty mount point: %v", left)
	}
	b.lab.Images.Mount()
	b.until("the gang is suspended", func() bool { return b.job(id).State == "suspended" })
	b.order(b.d.client.Resume, id)
	b.continues(id)
}
