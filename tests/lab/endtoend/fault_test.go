//go:build libvirt_dlopen

package endtoend

import (
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon/settings"
)

// faults are what hosts, networks and disks do to a cluster that works.
func (b systemTest) faults() {
	b.run("the last reply of a migration is lost", systemTest.replyLost)
	b.run("a link is cut in a migration", systemTest.linkCut)
	b.run("the image disk is full", systemTest.diskFull)
	b.run("a host dies", systemTest.hostDies)
}

// hostDies: while a dead host is only silent, nothing is done with what it may
// hold. Once an operator has vouched for its death, the vjob is lost as a whole
// and boots elsewhere.
func (b systemTest) hostDies() {
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.drain(h1)
	struck := b.started(gang{name: "struck", vms: 2, mib: 40, rules: "continuous spread($VMS);"})
	b.runsOn(struck, h2, h3)
	b.online(h1)
	other := b.started(gang{name: "other", vms: 2, mib: 24, rules: "continuous fence($VMS, {" + string(h1) + "});"})

	b.lab.PowerOff(h3)
	b.eyes.without(h3)
	b.until("the node is silent", func() bool { return b.node(h3).Silent })
	before := b.job(struck)
	_, err := b.d.client.Suspend(b.Context(), other)
	b.must(err)
	b.state(other, "suspended")
	_, err = b.d.client.Resume(b.Context(), other)
	b.must(err)
	b.state(other, "running")
	b.more(other, 3)
	b.gapless(other)
	third := b.submit(gang{name: "third", vms: 1, mib: 24, words: "run=5"})
	b.state(third, "terminated")
	for rank, m := range before.VMs {
		if m.Node == string(h2) {
			stood := len(b.lab.Counters(vm(struck, rank)))
			b.until("the member on the living host counts on", func() bool { return len(b.lab.Counters(vm(struck, rank))) > stood+2 })
		}
	}
	if now := b.job(struck); now.State != "running" || now.Phase != "active" || now.Version != before.Version {
		b.Errorf("vjob %d was touched while %s was silent: %s, %s\n%s", struck, h3, now.State, now.Phase, story(now))
	}

	b.must(b.d.client.SetNodes(b.Context(), wire.NodesChange{Names: []string{string(h3)}, NodeChange: wire.NodeChange{State: "down", Fenced: true}}))
	b.rebooted(struck, before)
	b.runsOn(struck, h1, h2)
	b.lab.PowerOn(h3)
	b.eyes.without("")
	b.until("the host answers the watcher", func() bool { _, err := b.eyes.look(b.Context(), h3); return err == nil })
	b.online(h3)
	b.until("the node is back", func() bool { n := b.node(h3); return n.State == "online" && !n.Silent })
	b.more(struck, 3)
	b.runsOn(struck, h1, h2)
	b.gapless(other)
}

func (b systemTest) node(name cluster.NodeID) wire.Node {
	b.Helper()
	list, err := b.d.client.Nodes(b.Context())
	b.must(err)
	i := slices.IndexFunc(list.Nodes, func(n wire.Node) bool { return n.Name == string(name) })
	if i < 0 {
		b.Fatalf("no node %s", name)
	}
	return list.Nodes[i]
}

// rebooted waits until a lost vjob has raised an alarm and runs again from scratch.
func (b systemTest) rebooted(id int64, before wire.VJobDetail) {
	b.Helper()
	b.until("the vjob is lost", func() bool { return b.job(id).Version > before.Version })
	job := b.state(id, "running")
	if !slices.ContainsFunc(job.Events, func(e wire.Event) bool { return e.Kind == "alarm" && strings.Contains(e.Text, "lost") }) {
		b.Errorf("no alarm says that vjob %d was lost\n%s", id, story(job))
	}
	b.more(id, 3)
	for rank, counts := range b.counts(id) {
		boots := lives(counts)
		if len(boots) != 2 {
			b.Errorf("guest %d.%d has booted %d times, want 2", id, rank, len(boots))
		}
	}
}

// replyLost: the destination has taken over a guest, and the source has missed the reply. The lock
// keeps the source paused, so the running guest is the one to keep.
func (b systemTest) replyLost() {
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.drain(h2, h3)
	id := b.started(gang{name: "cut", vms: 1, mib: 40, words: "fill=8"})
	dropped := b.lab.DropFinish(h2)
	b.online(h2)
	b.drain(h1)
	select {
	case <-dropped:
	case <-time.After(patience):
		b.Fatal("there was no migration")
	}
	b.leaves(id, h1)
	b.more(id, 3)
	b.runsOn(id, h2)
	b.gapless(id)
}

// linkCut: the guest continues on its host, and migrates once the link is back.
func (b systemTest) linkCut() {
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	b.d.stop()
	b.d.configure(b.lab, func(s *settings.Settings) { s.Libvirt.MigrationMiBps = 2 })
	b.d.start()
	b.drain(h2, h3)
	id := b.started(gang{name: "linked", vms: 1, mib: 56, words: "fill=24"})
	b.online(h2)
	b.drain(h1)
	b.until("the guest is on its way", func() bool { return b.eyes.incoming(b.Context(), h2) })
	b.lab.CutLink(h2)
	b.until("the migration has failed", func() bool {
		return slices.ContainsFunc(b.job(id).Events, func(e wire.Event) bool { return strings.Contains(e.Text, "stays on") }) ||
			b.job(id).State == "running" && !b.eyes.incoming(b.Context(), h2)
	})
	b.more(id, 3)
	b.runsOn(id, h1)
	b.lab.RestoreLink(h2)
	b.leaves(id, h1)
	b.more(id, 3)
	b.runsOn(id, h2)
	b.gapless(id)
	b.d.stop()
	b.d.configure(b.lab, nil)
	b.d.start()
}

// diskFull: the disk fills up while a gang is being saved. The gang runs on as a
// whole, what was saved before is as it was, and once there is room the gang is
// saved after all.
func (b systemTest) diskFull() {
	h1, h2, h3 := b.lab.Hosts()[0], b.lab.Hosts()[1], b.lab.Hosts()[2]
	old := b.started(gang{name: "old", vms: 2, mib: 24, words: "fill=4"})
	_, err := b.d.client.Suspend(b.Context(), old)
	b.must(err)
	b.state(old, "suspended")
	kept := b.images(old)
	id := b.started(gang{name: "large", vms: 3, mib: 100, words: "fill=80", rules: "continuous spread($VMS);"})

	b.until("the disk is full before the gang is saved", func() bool { return b.fillWhileSaving(id) })
	b.state(id, "running")
	b.more(id, 3)
	b.runsOn(id, h1, h2, h3)
	b.gapless(id)
	if now := b.images(old); len(kept) != 2 || !maps.Equal(now, kept) {
		b.Errorf("old images: %v became %v", kept, now)
	}
	b.lab.Images.Empty()
	b.state(id, "suspended")
	b.nowhere(id)
	for _, j := range []int64{id, old} {
		_, err = b.d.client.Resume(b.Context(), j)
		b.must(err)
		b.state(j, "running")
		b.more(j, 3)
		b.gapless(j)
	}
}

// fillWhileSaving suspends a vjob and fills the disk as soon as its first image
// grows. It reports false when the gang was faster, which is made undone.
func (b systemTest) fillWhileSaving(id int64) bool {
	b.Helper()
	b.lab.Images.Fill(340) // what the gang may need at most, and little more
	last := b.job(id).Events
	_, err := b.d.client.Suspend(b.Context(), id)
	b.must(err)
	b.until("an image grows", func() bool { return b.saving(id) })
	b.lab.Images.Fill(0)
	refused := false
	b.until("the gang is saved, or cannot be", func() bool {
		job := b.job(id)
		refused = slices.ContainsFunc(job.Events, func(e wire.Event) bool {
			return e.Seq > last[len(last)-1].Seq && strings.Contains(e.Text, "cannot be saved")
		})
		return refused || job.State == "suspended"
	})
	if refused {
		return true
	}
	b.lab.Images.Empty()
	_, err = b.d.client.Resume(b.Context(), id)
	b.must(err)
	b.state(id, "running")
	return false
}

// saving reports whether an image of a vjob has begun to fill.
func (b systemTest) saving(id int64) bool {
	var size int64
	for _, path := range b.imageFiles(id) {
		var info syscall.Stat_t
		if syscall.Stat(path, &info) == nil {
			size += info.Size
		}
	}
	return size > 0
}
