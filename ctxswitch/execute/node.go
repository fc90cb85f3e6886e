package execute

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/hypervisor"
)

// node is what the executor knows of one node.
type node struct {
	cluster.Node
	copies  map[cluster.VMID]hypervisor.Copy // of the last look that succeeded
	endings []hypervisor.Ending
	began   uint64    // logical time at which that look began
	seen    bool      // the last look succeeded
	tried   bool      // at least one look has ended since the start
	since   time.Time // of seen, or of silence
	problem string
	ended   time.Time // of the last look
	// rests is how often a node is looked at that is being switched off or on, or is
	// off; 0: it is in use. See [Executor.SetPowerState].
	rests     time.Duration
	dark      energy.Watts // that it draws meanwhile, while it does not answer
	strangers []string     // machines that vjob does not manage, by the last look that succeeded
	warnings  []string     // of the last look that succeeded

	looking bool
	started uint64 // logical time of the look under way
	again   bool   // something happened since it began

	ops map[hypervisor.OpID]*op // calls under way here
	// unseen are the VMs that calls may have brought here that ended, by the logical time,
	// since the look that was taken in last began.
	unseen map[cluster.VMID]uint64

	power powerDraw
	short []cluster.VMID // the VMs that get less CPU here than they want; see [Executor.updateCrowding]
}

// silent reports whether the node does not answer and may hold VMs.
func (n *node) silent() bool { return !n.seen && !n.provenEmpty() }

// provenEmpty reports whether nothing can be on the node, though it does not answer: it is
// proven dead, or it was empty when it was switched off.
func (n *node) provenEmpty() bool { return n.State == cluster.Down || n.rests > 0 && !n.seen }

// storeSight is what the executor knows of the image store.
type storeSight struct {
	hypervisor.Store
	began   uint64
	seen    bool
	at      time.Time
	looking bool
	started uint64
	again   bool
	problem string // why it cannot be read, as of the last look
}

// SetNode adds a node or changes what is decreed of it. Declaring a node down is
// the proof that whatever ran there is gone.
func (e *Executor) SetNode(now time.Time, n cluster.Node) {
	e.now = now
	known, ok := e.nodes[n.ID]
	if !ok {
		known = &node{copies: map[cluster.VMID]hypervisor.Copy{}, since: now, ops: map[hypervisor.OpID]*op{}, unseen: map[cluster.VMID]uint64{}}
		e.nodes[n.ID] = known
		at, _ := slices.BinarySearch(e.names, n.ID)
		e.names = slices.Insert(e.names, at, n.ID)
		e.unseen++
	}
	known.Node = n
	defer e.answered(known)
	defer e.updatePower(known)
	defer e.updateCrowding(known)
	e.changes++
	if n.State == cluster.Down {
		e.forget(known)
		clear(known.unseen)
		known.endings, known.seen = nil, false
		if !known.tried {
			known.tried = true
			e.unseen--
		}
		e.touchJobsOn(n.ID)
		e.settleOn(n.ID)
	}
	e.look(known)
}

// Looked takes in a look at a node.
func (e *Executor) Looked(now time.Time, id cluster.NodeID, view hypervisor.View, err error) {
	e.now = now
	n, ok := e.nodes[id]
	if !ok {
		return
	}
	if !n.tried {
		e.unseen--
		e.changes++
	}
	n.looking, n.tried, n.ended = false, true, now
	if n.State == cluster.Down {
		return
	}
	was := n.seen
	if err != nil {
		n.problem = err.Error()
	} else {
		e.see(n, view)
	}
	n.seen = err == nil
	e.answered(n)
	e.updatePower(n)
	e.updateCrowding(n)
	if was != n.seen {
		n.since = now
		e.changes++
		e.tell(n)
		e.touchJobsOn(id)
	}
	if n.again && n.seen {
		e.look(n)
	}
	e.settleOn(id)
}

// answered keeps the list of the nodes that do not answer.
func (e *Executor) answered(n *node) {
	if n.silent() {
		e.silent[n.ID] = n
	} else {
		delete(e.silent, n.ID)
	}
}

// settleOn closes what lost calls a look at a node allows to close.
func (e *Executor) settleOn(id cluster.NodeID) {
	ops := e.nodes[id].ops
	for _, number := range slices.Sorted(maps.Keys(ops)) {
		e.settle(ops[number])
	}
}

// see replaces what is known of a node, and wakes the gangs that wait for it. If the look has
// news, it also wakes the gangs with copies there, and those that were denied a call: the power
// of all nodes may be lower now.
func (e *Executor) see(n *node, view hypervisor.View) {
	news := !n.seen || !slices.Equal(n.endings, view.Endings) || !n.shows(view.Copies)
	n.began, n.problem, n.endings, n.strangers = n.started, "", view.Endings, view.Unmanaged
	maps.DeleteFunc(n.unseen, func(_ cluster.VMID, ended uint64) bool { return ended < n.began })
	e.warn(n, view.Warnings)
	if news {
		e.forget(n)
	}
	for _, c := range view.Copies {
		if news {
			e.find(n, c)
		}
		n.copies[c.VM] = c
	}
	e.meters(view.Copies)
	if news {
		e.touchWaiters()
	}
	for id := range e.jobsOn[n.ID] {
		if p, active := e.active[id]; active && p.waitsFor(n.ID) {
			e.dirty[id] = true
		}
	}
	e.quarantine(n)
}

// shows reports whether these are the copies that are known, but for the CPU that
// they need and use.
func (n *node) shows(copies []hypervisor.Copy) bool {
	for _, c := range copies {
		known := n.copies[c.VM]
		known.CPU, known.CPUTime = c.CPU, c.CPUTime
		if known != c {
			return false
		}
	}
	return len(copies) == len(n.copies)
}

// find notes where a copy is, and wakes its gang.
func (e *Executor) find(n *node, c hypervisor.Copy) {
	e.seenOn[c.VM] = append(e.seenOn[c.VM], n.ID)
	slices.Sort(e.seenOn[c.VM])
	e.dirty[c.VM.VJob] = true
}

// meters takes in the CPU of copies that run.
func (e *Executor) meters(copies []hypervisor.Copy) {
	for _, c := range copies {
		p := e.gangs[c.VM.VJob]
		if p != nil && c.State == hypervisor.CopyRunning && e.meter(p, c.VM.Rank, c.CPU, c.CPUTime) {
			e.changes++
		}
	}
}

// forget drops what was seen on a node, and wakes the gangs that it concerned.
func (e *Executor) forget(n *node) {
	for id := range n.copies {
		e.dirty[id.VJob] = true
		e.seenOn[id] = slices.DeleteFunc(e.seenOn[id], func(at cluster.NodeID) bool { return at == n.ID })
		if len(e.seenOn[id]) == 0 {
			delete(e.seenOn, id)
		}
	}
	clear(n.copies)
}

// warn takes in the warnings of a node, and tells of new ones.
func (e *Executor) warn(n *node, warnings []string) {
	if len(warnings) > 0 && !slices.Equal(n.warnings, warnings) {
		e.event(journal.Event{Kind: journal.EventNode, Node: n.ID, Text: fmt.Sprintf("node %s: %s", n.ID, strings.Join(warnings, "; "))})
	}
	n.warnings = warnings
}

func (e *Executor) tell(n *node) {
	if n.rests > 0 {
		return // the power controller reports what becomes of it
	}
	text := fmt.Sprintf("node %s answers", n.ID)
	if !n.seen {
		text = fmt.Sprintf("node %s does not answer: %s", n.ID, n.problem)
	}
	e.event(journal.Event{Kind: journal.EventNode, Node: n.ID, Text: text})
}

// LookedStore takes in a look at the image store.
func (e *Executor) LookedStore(now time.Time, store hypervisor.Store, err error) {
	e.now = now
	e.store.looking = false
	e.store.at = now
	e.store.seen = err == nil
	e.tellStore(err)
	if err == nil {
		e.store.Store, e.store.began = store, e.store.started
		shown := map[hypervisor.ImageID]bool{}
		for _, image := range store.Images {
			e.dirty[image.ID.VM.VJob], shown[image.ID] = true, true
		}
		maps.DeleteFunc(e.discards, func(id hypervisor.ImageID, _ *tries) bool { return !shown[id] })
	}
	e.checkImages()
	for id := range e.active {
		e.dirty[id] = true
	}
	if e.store.again {
		e.lookStore()
	}
}

// Hint says that something changed on a node.
func (e *Executor) Hint(now time.Time, id cluster.NodeID) {
	e.now = now
	if n, ok := e.nodes[id]; ok {
		e.look(n)
	}
}

// look asks for a look that begins now; while one is under way that began
// earlier, another one will follow it.
func (e *Executor) look(n *node) {
	if n.State == cluster.Down {
		return
	}
	if n.looking {
		n.again = true
		return
	}
	e.tick++
	n.looking, n.started, n.again = true, e.tick, false
	e.out.Looks = append(e.out.Looks, n.ID)
}

func (e *Executor) lookDue(n *node) bool {
	if n.looking {
		return false
	}
	every := e.settings.LookEvery
	if !n.seen {
		every = e.settings.Retry
	}
	if n.rests > 0 {
		every = n.rests
	}
	return e.now.Sub(n.ended) >= every
}

// lookStoreEvery is how often the image store is looked at although nothing was written:
// more often while it cannot be read.
func (e *Executor) lookStoreEvery() time.Duration {
	if e.store.seen {
		return 6 * e.settings.LookEvery
	}
	return e.settings.LookEvery
}

func (e *Executor) lookStore() {
	if e.store.looking {
		e.store.again = true
		return
	}
	e.tick++
	e.store.looking, e.store.started, e.store.again = true, e.tick, false
	e.out.LookStore = true
}

// updateJobsOnAll enters where the members of a gang are and go.
func (e *Executor) updateJobsOnAll(p *gangState) {
	for _, m := range p.rec.Members {
		for _, id := range []cluster.NodeID{m.Node, m.Next} {
			if id != "" {
				e.updateJobsOn(id, p.job.ID)
			}
		}
	}
}

func (e *Executor) updateJobsOn(id cluster.NodeID, vjob cluster.VJobID) {
	if e.jobsOn[id] == nil {
		e.jobsOn[id] = map[cluster.VJobID]bool{}
	}
	e.jobsOn[id][vjob] = true
}

// touchJobsOn wakes every gang that a node concerns: whether it is seen has
// changed. Entries of gangs that have left are dropped on the way.
func (e *Executor) touchJobsOn(id cluster.NodeID) {
	for job := range e.jobsOn[id] {
		p, live := e.gangs[job]
		if !live || !p.waitsFor(id) {
			delete(e.jobsOn[id], job)
			continue
		}
		e.dirty[job] = true
	}
}
