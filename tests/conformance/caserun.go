package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// caseRun is one running case.
type caseRun struct {
	*testing.T
	h   *Harness
	job cluster.VJobID
}

// ops numbers the calls of every suite in the process.
var ops atomic.Int64

// stamp is written into every guest of the suite.
var stamp = hypervisor.Stamp{Incarnation: 1, Epoch: 7}

func (b *caseRun) node(i int) cluster.NodeID { return b.h.Nodes[i] }

func (b *caseRun) vm(rank int) cluster.VMID { return cluster.VMID{VJob: b.job, Rank: rank} }

// image names the first image of a member.
func (b *caseRun) image(rank int) hypervisor.ImageID {
	return hypervisor.ImageID{VM: b.vm(rank), Generation: 1, Attempt: 1}
}

// call is a call for a member on a node.
func (b *caseRun) call(v hypervisor.Verb, rank int, node cluster.NodeID) hypervisor.Call {
	return hypervisor.Call{
		Op: hypervisor.OpID(ops.Add(1)), Verb: v, VM: b.vm(rank), Node: node, Image: b.image(rank), Attempt: 1,
	}
}

// do carries out a call, within the harness's deadline.
func (b *caseRun) do(c hypervisor.Call) (hypervisor.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
	defer cancel()
	return b.h.Driver.Do(ctx, c)
}

// must carries out a call that must succeed. A refused call is repeated once while the harness
// has whims left: a real refusal is refused again.
func (b *caseRun) must(c hypervisor.Call) hypervisor.Receipt {
	b.Helper()
	r, err := b.do(c)
	if errors.Is(err, hypervisor.ErrRefused) && b.h.SpuriousRefusals > 0 {
		b.h.SpuriousRefusals--
		b.Logf("REPEATED: %s %s on %s: %v", c.Verb, c.VM, c.Node, err)
		c.Op = hypervisor.OpID(ops.Add(1))
		r, err = b.do(c)
	}
	if err != nil {
		b.Fatalf("%s %s on %s: %v", c.Verb, c.VM, c.Node, err)
	}
	return r
}

// fails carries out a call that must fail, with one of the given errors if any.
func (b *caseRun) fails(c hypervisor.Call, ways ...error) {
	b.Helper()
	_, err := b.do(c)
	if err == nil {
		b.Fatalf("%s %s on %s succeeded", c.Verb, c.VM, c.Node)
	}
	b.failed(c, err, ways...)
}

// failed checks that an error is one of the given ones, if any.
func (b *caseRun) failed(c hypervisor.Call, err error, ways ...error) {
	b.Helper()
	b.Logf("%s %s on %s: %v", c.Verb, c.VM, c.Node, err)
	if len(ways) > 0 && !slices.ContainsFunc(ways, func(w error) bool { return errors.Is(err, w) }) {
		b.Errorf("%s %s on %s: %v, want one of %v", c.Verb, c.VM, c.Node, err, ways)
	}
}

// async carries out a call in the background.
func (b *caseRun) async(c hypervisor.Call) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := b.do(c)
		ended <- err
	}()
	return ended
}

// look looks at a node that must answer, perhaps after a while.
func (b *caseRun) look(node cluster.NodeID) hypervisor.View {
	b.Helper()
	var v hypervisor.View
	b.until("look at "+string(node), func() (string, bool) {
		var err error
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		defer cancel()
		v, err = b.h.Driver.Look(ctx, node)
		return fmt.Sprint(err), err == nil
	})
	return v
}

// store looks at the image store, which must answer.
func (b *caseRun) store() hypervisor.Store {
	b.Helper()
	var s hypervisor.Store
	b.until("look at the store", func() (string, bool) {
		var err error
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		defer cancel()
		s, err = b.h.Driver.LookStore(ctx)
		return fmt.Sprint(err), err == nil
	})
	return s
}

// until polls until a condition holds. If it never does, the message shows what was seen last.
func (b *caseRun) until(what string, so func() (seen string, done bool)) {
	b.Helper()
	for deadline := time.Now().Add(b.h.Patience); ; time.Sleep(b.h.Poll) {
		seen, done := so()
		if done {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s: not within %s; last seen: %s", what, b.h.Patience, seen)
		}
	}
}

// copies describes the copies of a member on all nodes; whole is false if a node did not answer, or
// did not tell whether a copy has a job: after a restart of its daemon, connections are made again.
func (b *caseRun) copies(rank int) (text string, whole bool) {
	var list []string
	whole = true
	for _, node := range b.h.Nodes {
		ctx, cancel := context.WithTimeout(context.Background(), b.h.CallTimeout)
		v, err := b.h.Driver.Look(ctx, node)
		cancel()
		if err != nil {
			list, whole = append(list, fmt.Sprintf("%s:?", node)), false
			continue
		}
		if c, ok := v.Copy(b.vm(rank)); ok {
			s := fmt.Sprintf("%s:%s", node, c.State)
			if c.Job != hypervisor.JobNone {
				s += "/" + c.Job.String()
			}
			whole = whole && c.Job != hypervisor.JobUnknown
			list = append(list, s)
		}
	}
	return strings.Join(list, " "), whole
}

// at describes a copy as copies does.
func (b *caseRun) at(i int, s hypervisor.CopyState) string {
	return fmt.Sprintf("%s:%s", b.node(i), s)
}

// becomes waits until the copies of a member are one of the given.
func (b *caseRun) becomes(rank int, want ...string) string {
	b.Helper()
	var text string
	b.until(fmt.Sprintf("VM %s is %v", b.vm(rank), want), func() (string, bool) {
		text, _ = b.copies(rank)
		return text, slices.Contains(want, text)
	})
	return text
}

// stays checks for a moment that the copies of rank 0 are the given ones.
func (b *caseRun) stays(want string) {
	b.Helper()
	for end := time.Now().Add(b.h.Moment); time.Now().Before(end); time.Sleep(b.h.Poll) {
		if text, whole := b.copies(0); whole && text != want {
			b.Fatalf("VM %s is %q, want %q", b.vm(0), text, want)
		}
	}
}

// withoutJobs waits until the copies of rank 0 have no job, and describes them.
func (b *caseRun) withoutJobs() string {
	b.Helper()
	var text string
	b.until("jobs end", func() (string, bool) {
		var whole bool
		text, whole = b.copies(0)
		return text, whole && !strings.Contains(text, "/")
	})
	return text
}

// boot creates a member on a node and waits until it runs and counts.
func (b *caseRun) boot(rank, node int) {
	b.Helper()
	b.must(b.booting(rank, node, 0))
	b.becomes(rank, b.at(node, hypervisor.CopyRunning))
	b.counts(rank)
}

func (b *caseRun) booting(rank, node int, lives time.Duration) hypervisor.Call {
	c := b.call(hypervisor.Boot, rank, b.node(node))
	c.Stamp = stamp
	c.Machine = b.h.Machine(Guest{VM: c.VM, Members: 1, Memory: b.h.Memory, Lives: lives})
	return c
}

// counter reads a member's count, or -1 without one.
func (b *caseRun) counter(rank int) int64 {
	b.Helper()
	if b.h.Counter == nil {
		return -1
	}
	r, err := b.h.Driver.Console(b.Context(), b.vm(rank))
	if errors.Is(err, cluster.ErrNotFound) {
		return -1
	}
	if err != nil {
		b.Fatalf("console of %s: %v", b.vm(rank), err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatalf("console of %s: %v", b.vm(rank), err)
	}
	if n, ok := b.h.Counter(text); ok {
		return n
	}
	return -1
}

// counts waits until a member's count grows, and returns it.
func (b *caseRun) counts(rank int) int64 {
	b.Helper()
	if b.h.Counter == nil {
		return 0
	}
	var now int64
	first := b.counter(rank)
	b.until(fmt.Sprintf("VM %s counts on from %d", b.vm(rank), first), func() (string, bool) {
		now = b.counter(rank)
		return fmt.Sprint(now), now > first && first >= 0 || now > 0 && first < 0
	})
	return now
}

// continues checks that a member continues from a count, in the same guest: a guest that was
// booted again would have begun from 0.
func (b *caseRun) continues(rank int, from int64) {
	b.Helper()
	if b.h.Counter == nil {
		return
	}
	if now := b.counts(rank); now < from {
		b.Fatalf("VM %s counted to %d, and now %d: it has lost its memory", b.vm(rank), from, now)
	}
}

// pause pauses a running member and returns its count.
func (b *caseRun) pause(rank, node int) int64 {
	b.Helper()
	b.must(b.call(hypervisor.Pause, rank, b.node(node)))
	b.becomes(rank, b.at(node, hypervisor.CopyPaused))
	return b.counter(rank)
}

// unpause lets a paused member run.
func (b *caseRun) unpause(rank, node int) {
	b.Helper()
	b.must(b.call(hypervisor.Unpause, rank, b.node(node)))
	b.becomes(rank, b.at(node, hypervisor.CopyRunning))
}

// saved boots rank 0 on the first node, pauses it, saves and seals it, and returns the checksum and
// its count.
func (b *caseRun) saved() (sum string, count int64) {
	b.Helper()
	b.boot(0, 0)
	count = b.pause(0, 0)
	b.must(b.call(hypervisor.Save, 0, b.node(0)))
	b.becomes(0, "")
	return b.seal(0, 0), count
}

// seal seals the image of a member and returns its checksum.
func (b *caseRun) seal(rank, node int) string {
	b.Helper()
	r := b.must(b.call(hypervisor.Seal, rank, b.node(node)))
	if r.Checksum == "" || r.Bytes <= 0 {
		b.Fatalf("receipt of a seal: %+v", r)
	}
	return r.Checksum
}

// restoring is a call that restores the image of a member.
func (b *caseRun) restoring(rank, node int, sum string, attempt int) hypervisor.Call {
	c := b.call(hypervisor.Restore, rank, b.node(node))
	c.Checksum, c.Attempt = sum, attempt
	return c
}

// migrating is a call that migrates rank 0.
func (b *caseRun) migrating(from, to int) hypervisor.Call {
	c := b.call(hypervisor.Migrate, 0, b.node(from))
	c.To = b.node(to)
	return c
}

// hook checks that a hook succeeded.
func (b *caseRun) hook(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// sweep removes the copies and images of a case.
func (b *caseRun) sweep() {
	for _, node := range b.h.Nodes {
		for _, c := range b.look(node).Copies {
			if c.VM.VJob == b.job {
				_, _ = b.do(b.call(hypervisor.Destroy, c.VM.Rank, node))
			}
		}
	}
	for _, i := range b.store().Images {
		if i.ID.VM.VJob == b.job {
			c := b.call(hypervisor.Discard, i.ID.VM.Rank, i.Node)
			c.Image = i.ID
			_, _ = b.do(c)
		}
	}
}
