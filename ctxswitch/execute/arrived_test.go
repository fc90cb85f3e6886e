package execute_test

import (
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// What a call has brought to a node takes its room from the reply on, though no look has
// shown it yet.
func TestRoomOfWhatIsNotYetSeen(t *testing.T) {
	l := world(job(1, 1, cluster.Waiting), job(2, 1, cluster.Waiting), job(9, 3, cluster.Running))
	l.Gangs = append(l.Gangs, at(9, gang.Active, "a", "a", "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0), group(cluster.Boot, 2, 1)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 2, 0, "", "a"))
	d.wants("1 boot 1.0@a")
	before := slices.Clone(d.copies["a"])
	d.exec.Hint(d.now, "a")
	d.flush()
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	d.flush()
	d.wants("1 boot 1.0@a")
	d.lookedAt("a", before...) // which began before the reply
	d.wants("1 boot 1.0@a")
	d.settle()
	d.wants("1 boot 1.0@a")
}

// What a look shows before the reply has come takes its room once.
func TestRoomOfWhatIsSeenEarly(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	d.exec.Hint(d.now, "a")
	d.flush()
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	d.lookedAt("a", d.copies["a"]...)
	if n, _ := d.exec.Node("a"); n.Used != job(1, 1, cluster.Waiting).VMs[0].Reserved {
		t.Errorf("used are %s", n.Used)
	}
}

// The gang of an image that an administrator deletes has no part in that call: when it ends,
// the gang still waits for its own.
func TestDiscardsBesideAGang(t *testing.T) {
	for name, err := range map[string]error{"done": nil, "failed": hypervisor.ErrNoImage} {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, settings(), lost(cluster.Waiting))
			strange := imageOf(1, 2) // of a member that there is not
			strange.ID.VM.Rank = 7
			d.store.Images = []hypervisor.Image{imageOf(1, 2), strange}
			d.settle()
			d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
			for _, image := range d.store.Images {
				if err := d.exec.Images.Discard(d.now, image.ID, "ada"); err != nil {
					t.Fatal(err)
				}
			}
			d.settle()
			d.wants("1 boot 1.0@a, 2 discard 1.0@a, 3 discard 1.7@a")
			d.store.Images = nil
			d.reply(2, err)
			d.reply(3, err)
			d.wants("1 boot 1.0@a, 2 discard 1.0@a, 3 discard 1.7@a")
			d.isIn(gang.Creating)
		})
	}
}
