package execute_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// suspending has vjob 1, of two members on a and b, paused by plan 1, each pause from and to
// so many seconds after the start.
func suspending(t *testing.T, set execute.Settings, pauses ...[2]int) *harness {
	t.Helper()
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, set, l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1)}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""))
	d.wants("1 pause 1.0@a, 2 pause 1.1@b")
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.repliedIn(1, pauses...)
	return d
}

// repliedIn answers calls from a number on, each made from and to so many seconds after the start.
func (d *harness) repliedIn(first hypervisor.OpID, spans ...[2]int) {
	for i, span := range spans {
		d.exec.Replied(d.now, execute.Reply{
			Op: first + hypervisor.OpID(i), Began: start.Add(time.Duration(span[0]) * time.Second), Ended: start.Add(time.Duration(span[1]) * time.Second),
		})
	}
	d.settle()
}

// A gang is saved when each member has an image that was sealed, and the record keeps what
// the seal has found. The reply to a save or to a failed seal is no seal.
func TestSealsAreRecorded(t *testing.T) {
	d := suspending(t, settings(), [2]int{}, [2]int{})
	d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 save 1.0@a, 4 save 1.1@b")
	d.saved(0)
	d.saved(1)
	for i := range d.store.Images {
		d.store.Images[i].ID.Generation = 2
	}
	d.exec.Replied(d.now, execute.Reply{Op: 3})
	d.exec.Replied(d.now, execute.Reply{Op: 4})
	d.settle()
	const sealing = "1 pause 1.0@a, 2 pause 1.1@b, 3 save 1.0@a, 4 save 1.1@b, 5 seal 1.0@a, 6 seal 1.1@b"
	d.wants(sealing)
	receipt := hypervisor.Receipt{Bytes: 100, Checksum: "c0", Incarnation: 1}
	d.exec.Replied(d.now, execute.Reply{Op: 5, Receipt: receipt, Err: errors.New("stale file handle")})
	d.settle()
	d.wants(sealing + ", 7 seal 1.0@a")
	d.exec.Replied(d.now, execute.Reply{Op: 7, Receipt: receipt})
	d.exec.Replied(d.now, execute.Reply{Op: 6, Receipt: hypervisor.Receipt{Bytes: 101, Checksum: "c1", Incarnation: 1}})
	d.settle()
	d.wants(sealing + ", 7 seal 1.0@a")
	d.isIn(gang.Saved)
	r, _ := d.exec.Job(1)
	for rank, want := range []gang.Image{
		{Node: "a", Bytes: 100, Checksum: "c0", Incarnation: 1}, {Node: "b", Bytes: 101, Checksum: "c1", Incarnation: 1},
	} {
		want.ID = hypervisor.ImageID{VM: cluster.VMID{VJob: 1, Rank: rank}, Generation: 2, Attempt: 1}
		if got := r.Record.Members[rank].Image; got == nil || *got != want {
			t.Errorf("the image of member %d is %+v, want %+v", rank, got, want)
		}
	}
}

// restoring has vjob 1 restored on a, from an image on a node: attempt 1 is under way.
func restoring(t *testing.T, from cluster.NodeID) *harness {
	t.Helper()
	image := imageOf(1, 1)
	image.Node = from
	rec := at(1, gang.Saved, "")
	rec.Members[0].Image = &gang.Image{ID: image.ID, Node: from}
	l := world(job(1, 1, cluster.Suspended))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.store.Images = []hypervisor.Image{image}
	d.settle()
	d.adopt([]ctxGang{group(cluster.Resume, 1, 0)}, act(cluster.Resume, 1, 0, "", "a"))
	d.wants("1 restore 1.0@a")
	return d
}

// Before its images go, every attempt to restore a vjob is revoked, until a call for it ends
// well; an attempt that has ended well itself is revoked like the others.
func TestAttemptsAreRevokedFirst(t *testing.T) {
	for _, err := range []error{nil, errors.New("internal error")} {
		d := restoring(t, "c")
		if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
		d.reply(1, err)
		d.wants("1 restore 1.0@a, 2 revoke 1.0@c")
		d.reply(2, errors.New("stale file handle"))
		d.wants("1 restore 1.0@a, 2 revoke 1.0@c, 3 revoke 1.0@c")
		for _, dead := range []bool{true, false} { // in the meantime, and not for long
			d.dead["c"] = dead
			d.exec.Hint(d.now, "c")
			d.settle()
		}
		d.reply(3, nil)
		d.wants("1 restore 1.0@a, 2 revoke 1.0@c, 3 revoke 1.0@c, 4 discard 1.0@c")
		d.exec.Replied(d.now, execute.Reply{Op: 4})
		d.flush()
		d.exec.Looked(d.now, "c", hypervisor.View{Node: "c"}, nil) // and what is known of the store is older
		d.flush()
		d.wants("1 restore 1.0@a, 2 revoke 1.0@c, 3 revoke 1.0@c, 4 discard 1.0@c")
		if d.calls[2].Attempt != 1 {
			t.Errorf("attempts up to %d are revoked, want 1", d.calls[2].Attempt)
		}
	}
}

// A call that ends well leaves nothing of the fault of an earlier one: if no copy comes after
// all, the reason is only that.
func TestALaterSuccessSettlesAFault(t *testing.T) {
	d := restoring(t, "c")
	d.reply(1, errors.New("stale file handle"))
	for op := hypervisor.OpID(2); op < 6; op++ {
		d.reply(op, nil)
	}
	d.isIn(gang.Saved)
	r, _ := d.exec.Job(1)
	if want := "1.0 is not restored on a"; r.Record.Cause.Text != want {
		t.Errorf("the reason is %q, want %q", r.Record.Cause, want)
	}
}

// Calls that were not tried, because the one before them failed, are no tries, and the reason
// why the gang turns back is what that one said.
func TestCallsNotTriedAreNoTries(t *testing.T) {
	d := restoring(t, "c")
	d.exec.SetCaps(d.now, 1, []cluster.MilliCPU{500})
	fault := errors.New("stale file handle")
	d.reply(1, fault)
	for op := hypervisor.OpID(2); op < 6; op += 2 {
		d.isIn(gang.Restoring)
		d.exec.Replied(d.now, execute.Reply{Op: op, Err: fault, Began: d.now, Ended: d.now})
		d.reply(op+1, execute.ErrNotTried)
	}
	d.wants("1 restore 1.0@a, 2 revoke 1.0@c, 3 restore 1.0@a, 4 revoke 1.0@c, 5 restore 1.0@a, 6 revoke 1.0@c")
	if d.calls[2].Cap != 500 {
		t.Errorf("the second call of a chain has the cap %s", d.calls[2].Cap)
	}
	r, _ := d.exec.Job(1)
	if want := "1.0 is not restored on a: stale file handle"; r.Record.Then != gang.ThenSave || r.Record.Cause.Text != want {
		t.Errorf("it is %s(%s): %q, want %q", r.Record.Phase, r.Record.Then, r.Record.Cause, want)
	}
}

// skews are those that were written.
func (d *harness) skews() (list []journal.SkewChange) {
	for _, s := range d.steps {
		list = append(list, s.Skews...)
	}
	return list
}

// The skew is that between the beginning of the first pause, or of the first call that ends
// one, and the end of the last.
func TestSkewIsMeasured(t *testing.T) {
	set := settings()
	set.Limits.MaxSkew = time.Minute
	for _, spans := range [][][2]int{{{0, 2}, {3, 7}}, {{3, 7}, {0, 2}}, {{0, 7}, {2, 3}}, {{2, 3}, {0, 7}}} {
		d := suspending(t, set, spans...)
		d.isIn(gang.Saving)
		want := journal.SkewChange{Plan: 1, VJob: 1, Kind: "pause", Skew: 7 * time.Second}
		if got := d.skews(); len(got) != 1 || got[0] != want {
			t.Errorf("pauses %v: %+v, want %+v", spans, got, want)
		}

		d = standing(t)
		d.unpause()
		d.has(1, 0, "a", hypervisor.CopyRunning)
		d.has(1, 1, "a", hypervisor.CopyRunning)
		d.repliedIn(1, spans...)
		d.isIn(gang.Active)
		want.Kind = "resume"
		if got := d.skews(); len(got) != 1 || got[0] != want {
			t.Errorf("calls that end pauses %v: %+v, want %+v", spans, got, want)
		}
	}
}

// Other calls that end while a gang is paused leave its skew as it is.
func TestSkewIsThatOfPauses(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "c", hypervisor.CopyPaused)
	d.copies["c"][0].Stamp.Incarnation = 0 // of an earlier life
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1)}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""))
	d.wants("1 destroy 1.0@c")
	d.isIn(gang.Pausing)
	d.gone(1, 0, "c")
	d.repliedIn(1, [2]int{-60, 60})
	d.wants("1 destroy 1.0@c, 2 pause 1.0@a, 3 pause 1.1@b")
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.repliedIn(2, [2]int{0, 1}, [2]int{1, 2})
	d.isIn(gang.Saving)
	if got := d.skews(); len(got) != 1 || got[0].Skew != 2*time.Second {
		t.Errorf("written is %+v, want 2s", got)
	}
}

// When a lock keeps a member from going on, those that go on are paused again as soon as the
// reply says so, before another look.
func TestLockedOutAtOnce(t *testing.T) {
	d := standing(t)
	d.unpause()
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.exec.Replied(d.now, execute.Reply{Op: 2, Err: hypervisor.ErrLocked, Began: d.now, Ended: d.now})
	d.flush()
	d.wants("1 unpause 1.0@a, 2 unpause 1.1@a, 3 pause 1.0@a")
	d.settle()
	for range 6 { // one at a time, though it does not pause
		n := len(d.calls)
		d.reply(d.calls[n-1].Op, hypervisor.ErrRefused)
		for range 40 {
			if len(d.calls) == n {
				d.pass(time.Second)
			}
		}
		d.pass(5 * time.Second)
		if len(d.calls) != n+1 || d.calls[n].Verb != hypervisor.Pause {
			t.Fatalf("calls are %s", d.wanted())
		}
	}
}

// A transfer slot that is free again is taken as soon as the reply says so, at both ends of
// a migration.
func TestSlotsAreFreeAtOnce(t *testing.T) {
	set := settings()
	set.Transfers = 1
	l := world(job(1, 1, cluster.Migrating), job(2, 1, cluster.Migrating))
	for id, nodes := range map[cluster.VJobID][2]cluster.NodeID{1: {"a", "b"}, 2: {"c", "b"}} {
		rec := at(id, gang.Shifting, nodes[0])
		rec.Members[0].Next = nodes[1]
		l.Gangs = append(l.Gangs, rec)
	}
	d := newHarness(t, set, l)
	d.settle()
	d.wants("1 migrate 1.0@a>b")
	d.exec.Replied(d.now, execute.Reply{Op: 1, Err: errors.New("connection refused"), Began: d.now, Ended: d.now})
	d.flush()
	d.wants("1 migrate 1.0@a>b, 2 migrate 2.0@c>b")
}

// After each call its nodes are looked at, and the image store if the call may have changed
// it. Until then the room of what it may have brought is taken.
func TestLooksAfterReplies(t *testing.T) {
	writes := map[hypervisor.Verb]bool{
		hypervisor.Save: true, hypervisor.Seal: true, hypervisor.Discard: true, hypervisor.Abort: true,
	}
	brings := map[hypervisor.Verb]cluster.NodeID{hypervisor.Boot: "c", hypervisor.Restore: "c", hypervisor.Migrate: "b"}
	for verb := hypervisor.Boot; verb <= hypervisor.Tune; verb++ {
		for _, phase := range []gang.Phase{gang.Active, gang.Clearing} {
			for _, err := range []error{nil, hypervisor.ErrTimeout} {
				call := hypervisor.Call{Op: 1, Verb: verb, VM: cluster.VMID{VJob: 1}, Node: "c"}
				want := []cluster.NodeID{"c"}
				if verb == hypervisor.Migrate {
					call.To, want = "b", []cluster.NodeID{"b", "c"}
				}
				rec := at(1, phase, "a")
				l := world(job(1, 1, rec.State()))
				l.Gangs = append(l.Gangs, rec)
				l.Open, l.NextOp = []journal.Intent{{Call: call, At: start, Epoch: 1}}, 2
				l.Deadlines = map[hypervisor.OpID]time.Time{1: start.Add(time.Hour)}
				d := newHarness(t, settings(), l)
				d.settle()
				d.exec.Replied(d.now, execute.Reply{Op: 1, Err: err, Began: d.now, Ended: d.now})
				d.flush()
				if !slices.Equal(d.looks, want) || d.looking != writes[verb] {
					t.Errorf("%s, after a %s (%v) looks are wanted at %v, at the store %t", phase, verb, err, d.looks, d.looking)
				}
				for _, n := range d.exec.Nodes() {
					if taken := !n.Used.IsZero(); taken != (n.ID == "a" || n.ID == brings[verb]) {
						t.Errorf("%s, after a %s (%v) %s is taken of %s", phase, verb, err, n.Used, n.ID)
					}
				}
				d.settle()
				if n, _ := d.exec.Node(brings[verb]); err == nil && !n.Used.IsZero() {
					t.Errorf("%s, after a %s a look shows nothing, and %s is taken", phase, verb, n.Used)
				}
			}
		}
	}
}

// A look that was under way when a call ended does not show its effect.
func TestLooksFromBeforeAReply(t *testing.T) {
	d := booting(t, settings())
	d.exec.Hint(d.now, "a")
	d.flush()
	d.looks = nil
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	d.exec.Looked(d.now, "a", hypervisor.View{Node: "a"}, nil)
	d.flush()
	d.wants("1 boot 1.0@a")
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.settle()
	d.wants("1 boot 1.0@a")
	d.isIn(gang.Active)
}
