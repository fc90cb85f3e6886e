package execute_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

type ctxGang = ctxswitch.Gang

// No more transfers at once on a node than the settings allow.
func TestTransfersAreLimited(t *testing.T) {
	l := world(job(1, 3, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	for rank := range 3 {
		d.has(1, rank, "a", hypervisor.CopyPaused)
	}
	d.settle()
	d.wants("1 save 1.0@a, 2 save 1.1@a")
	d.pass(10 * time.Second)
	d.wants("1 save 1.0@a, 2 save 1.1@a")
	d.saved(0)
	d.reply(1, nil)
	if !strings.Contains(d.wanted(), "save 1.2@a") {
		t.Errorf("the slot that is free is not taken: %s", d.wanted())
	}
}

// saved turns a copy of vjob 1 into a complete image of its first attempt.
func (d *harness) saved(rank int) {
	for node, list := range d.copies {
		for _, c := range list {
			if c.VM == (cluster.VMID{VJob: 1, Rank: rank}) {
				d.store.Images = append(d.store.Images, hypervisor.Image{
					ID: hypervisor.ImageID{VM: c.VM, Generation: 1, Attempt: 1}, Node: node, Complete: true,
				})
			}
		}
		d.gone(1, rank, node)
	}
}

// full has vjob 9, of four members, on a: there is no room for other vjobs.
func full(jobs ...*cluster.VJob) journal.Loaded {
	l := world(append(jobs, job(9, 4, cluster.Running))...)
	l.Gangs = append(l.Gangs, at(9, gang.Active, "a", "a", "a", "a"))
	return l
}

// A gang waits for the room that its plan promised, for a while; then it turns
// back as a whole.
func TestRoomTimeout(t *testing.T) {
	set := settings()
	d := newHarness(t, set, full(job(1, 2, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	d.wants("1 boot 1.1@b")
	d.has(1, 1, "b", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.pass(set.RoomTimeout - time.Second)
	d.isIn(gang.Creating)
	d.pass(time.Second)
	d.isIn(gang.Clearing)
	d.wants("1 boot 1.1@b, 2 destroy 1.1@b")
	d.gone(1, 1, "b")
	d.reply(2, nil)
	d.isIn(gang.Absent)
	if d.told("no room after") == 0 {
		t.Error("no event says why")
	}
}

// A gang that was turned back while it was saved is not refused for want of CPU: it has
// nowhere else to go. One that could still return to its images waits for it.
func TestTurnedBackWithoutCPU(t *testing.T) {
	for _, whole := range []bool{false, true} {
		back := at(1, gang.Restoring, "a", "a")
		for rank := range back.Members {
			back.Members[rank].Next = "a"
			if rank == 0 || whole {
				back.Members[rank].Image = &gang.Image{
					ID: hypervisor.ImageID{VM: cluster.VMID{VJob: 1, Rank: rank}, Generation: 1, Attempt: 1}, Node: "a",
				}
			}
		}
		l := world(job(1, 2, cluster.Resuming), job(9, 2, cluster.Running))
		l.Gangs = append(l.Gangs, at(9, gang.Active, "a", "a"), back)
		l.VJobs[1].VMs[0].Reserved.CPU = 3000
		d := newHarness(t, settings(), l)
		d.gone(1, 0, "a")
		if whole {
			d.gone(1, 1, "a")
		}
		d.settle()
		if got := strings.Contains(d.wanted(), "restore 1.0@a"); got == whole {
			t.Errorf("whole %t: got %s", whole, d.wanted())
		}
	}
}

// Room that appears in time is taken at once.
func TestRoomAppears(t *testing.T) {
	d := newHarness(t, settings(), full(job(1, 1, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	d.wants("")
	d.copies["a"] = d.copies["a"][:3]
	d.exec.Hint(d.now, "a")
	d.settle()
	if !strings.Contains(d.wanted(), "boot 1.0@a") {
		t.Errorf("got %s", d.wanted())
	}
}

// Two gangs that start in one instant do not take the same room.
func TestRoomIsTakenOnce(t *testing.T) {
	l := world(job(1, 1, cluster.Waiting), job(2, 1, cluster.Waiting), job(9, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(9, gang.Active, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0), group(cluster.Boot, 2, 1)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 2, 0, "", "a"))
	d.wants("1 boot 1.0@a")
}

// The room that a member holds: where its copies are, where it goes, every hop
// between, and nothing once it is an image.
func TestHolds(t *testing.T) {
	moving := at(1, gang.Moving, "a")
	moving.Members[0].Next = "b"
	booting := at(1, gang.Creating, "")
	booting.Members[0].Next = "c"
	for _, c := range []struct {
		name  string
		rec   gang.Record
		state cluster.State
		seen  []cluster.NodeID
		want  []cluster.NodeID
	}{
		{"waiting", at(1, gang.Absent, ""), cluster.Waiting, nil, nil},
		{"running", at(1, gang.Active, "a"), cluster.Running, []cluster.NodeID{"a"}, []cluster.NodeID{"a"}},
		{"booting", booting, cluster.Booting, nil, []cluster.NodeID{"c"}},
		{"moving", moving, cluster.Migrating, []cluster.NodeID{"a"}, []cluster.NodeID{"a", "b"}},
		{"a second copy", at(1, gang.Active, "a"), cluster.Running, []cluster.NodeID{"a", "c"}, []cluster.NodeID{"a", "c"}},
		{"saved", at(1, gang.Saved, ""), cluster.Suspended, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := world(job(1, 1, c.state))
			l.Gangs = append(l.Gangs, c.rec)
			d := newHarness(t, settings(), l)
			d.copies = map[cluster.NodeID][]hypervisor.Copy{}
			for _, node := range c.seen {
				d.has(1, 0, node, hypervisor.CopyRunning)
			}
			for _, node := range []cluster.NodeID{"a", "b", "c"} {
				d.exec.Looked(d.now, node, hypervisor.View{Node: node, Copies: d.copies[node]}, nil)
			}
			if got := d.exec.VMs.Holds(cluster.VMID{VJob: 1}); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// What a plan promises is held too, hop by hop.
func TestHoldsOfAPlan(t *testing.T) {
	l := full(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "c"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1)},
		act(cluster.Migrate, 1, 0, "c", "b"), act(cluster.Migrate, 1, 0, "b", "a", 0))
	want := []cluster.NodeID{"a", "b", "c"}
	if got := d.exec.VMs.Holds(cluster.VMID{VJob: 1}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A copy of a later boot than the record knows is left alone, and takes its room: none is
// booted beside it where there is no more.
func TestCopiesOfALaterBootTakeRoom(t *testing.T) {
	for _, others := range []int{2, 3} {
		l := world(job(1, 1, cluster.Waiting), job(9, others, cluster.Running))
		l.Gangs = append(l.Gangs, at(9, gang.Active, slices.Repeat([]cluster.NodeID{"a"}, others)...))
		d := newHarness(t, settings(), l)
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.copies["a"][others].Stamp.Incarnation = 7
		d.settle()
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
		if got, want := len(d.calls), 3-others; got != want {
			t.Errorf("beside %d VMs: %d calls, want %d: %s", others, got, want, d.wanted())
		}
	}
}
