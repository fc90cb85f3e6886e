package sim

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// Checker observes a run and collects the invariants that it breaks, by their number in
// docs/RELIABILITY.md. It knows the truth of the cluster and every committed step, and shares no
// code with what it checks. It subscribes to the cluster's changes; its owner passes it every
// call, commit and step.
type Checker struct {
	cluster *simulated.Cluster
	gangs   map[cluster.VJobID]gang.Record // as last committed
	jobs    map[cluster.VJobID]journal.VJobChange
	acked   []cluster.VJobID
	power   powers // as last committed
	intents map[hypervisor.OpID]bool
	used    map[cluster.VJobID]int // generation up to which images are used (I3)
	paused  map[cluster.VJobID][]time.Time
	done    map[cluster.VMID]int                // incarnation in which the guest shut itself down
	told    map[cluster.VMID]cluster.ExitStatus // by the guest that did so last
	calm    bool                                // no faults: nothing excuses a refused call
	maxSkew time.Duration
	trace   func(line string)                     // may be nil
	saves   map[suspension]map[simulated.Disk]int // epochs when a generation began to be saved
	left    left
	ties    ties
	starts  map[cluster.VJobID]starts

	changed    bool
	violations []string
	counts     Counts
}

// Counts are the events of a run, to show that enough happened for the run to prove anything.
type Counts struct {
	Events, Calls, Switches, Standstills, Suspensions, Resumes, Migrations, Losses, Rescues, Crashes, Faults, Offs, Balanced, Spared int
}

// Add sums counts.
func (c *Counts) Add(o Counts) {
	c.Events += o.Events
	c.Calls += o.Calls
	c.Switches += o.Switches
	c.Standstills += o.Standstills
	c.Suspensions += o.Suspensions
	c.Resumes += o.Resumes
	c.Migrations += o.Migrations
	c.Losses += o.Losses
	c.Rescues += o.Rescues
	c.Crashes += o.Crashes
	c.Faults += o.Faults
	c.Offs += o.Offs
	c.Balanced += o.Balanced
	c.Spared += o.Spared
}

// NewChecker returns a checker of a cluster. maxSkew is the limit of the gang protocol. If calm,
// there will be no faults and a refused call is a violation. trace gets every change as a line
// of text, and may be nil.
func NewChecker(c *simulated.Cluster, maxSkew time.Duration, calm bool, trace func(string)) *Checker {
	k := &Checker{
		cluster: c, gangs: map[cluster.VJobID]gang.Record{}, jobs: map[cluster.VJobID]journal.VJobChange{}, power: powers{},
		intents: map[hypervisor.OpID]bool{}, used: map[cluster.VJobID]int{},
		paused: map[cluster.VJobID][]time.Time{}, done: map[cluster.VMID]int{}, told: map[cluster.VMID]cluster.ExitStatus{}, maxSkew: maxSkew, calm: calm, trace: trace,
	}
	k.ties, k.starts = newTies(), map[cluster.VJobID]starts{}
	k.saves, k.left = map[suspension]map[simulated.Disk]int{}, left{}
	for _, n := range c.Nodes() {
		for _, l := range c.Leftovers(n.ID) {
			k.left[l.VM] = !l.Unpausable
		}
	}
	c.OnChange = k.Change
	return k
}

func (k *Checker) violate(number int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	k.tell("!!! I%d: %s", number, text)
	k.violations = append(k.violations, fmt.Sprintf("%s I%d: %s", k.cluster.Now().Format("15:04:05.000"), number, text))
}

// tell writes a line of the trace.
func (k *Checker) tell(format string, args ...any) {
	if k.trace != nil {
		k.trace(k.cluster.Now().Format("15:04:05.000 ") + fmt.Sprintf(format, args...))
	}
}

// Violations are the invariants broken so far, each with its time and number.
func (k *Checker) Violations() []string { return k.violations }

// Change checks a low-level change of the cluster. It is the cluster's OnChange; a test that
// replaces OnChange must call it.
func (k *Checker) Change(ch simulated.Change) {
	k.changed = true
	k.counts.Events++
	k.tell("      %s %s@%s %s %s %s", ch.Kind, ch.VM, ch.Node, ch.To, ch.Fault, ch.Cause)
	k.theft(ch)
	rec, known := k.gangs[ch.VM.VJob]
	switch ch.Kind {
	case simulated.Unpaused:
		if ch.MemoryEpoch != ch.DiskEpoch || ch.Corrupt {
			k.violate(2, "%s goes on on %s from memory of epoch %d, its disk is at %d (corrupt: %v)",
				ch.VM, ch.Node, ch.MemoryEpoch, ch.DiskEpoch, ch.Corrupt)
		}
		if ch.Incomplete {
			k.violate(2, "%s goes on on %s before its memory is whole", ch.VM, ch.Node)
		}
		k.inOrder(rec, ch, gang.Resuming, hypervisor.CopyPaused)
	case simulated.Paused:
		k.inOrder(rec, ch, gang.Pausing, hypervisor.CopyRunning)
		if rec.Phase == gang.Pausing {
			k.paused[ch.VM.VJob] = append(k.paused[ch.VM.VJob], ch.At)
		}
	case simulated.Restored:
		k.counts.Resumes++
		if known && ch.Image.Generation <= k.used[ch.VM.VJob] {
			k.violate(3, "%s is restored from generation %d, which is used", ch.VM, ch.Image.Generation)
		}
	case simulated.Ended:
		if ch.Cause == hypervisor.CauseShutdown {
			k.done[ch.VM], k.told[ch.VM] = ch.Stamp.Incarnation, ch.Exit
		}
	case simulated.Lost:
		if ch.Exit.Known() { // its work had ended, which its console tells (ADR 50)
			k.done[ch.VM], k.told[ch.VM] = ch.Stamp.Incarnation, ch.Exit
		}
	case simulated.Discarded:
		k.lastCopy(ch)
	case simulated.Migrated:
		k.counts.Migrations++
	case simulated.Saved:
		k.counts.Suspensions++
	case simulated.FaultBegan, simulated.ImageDamaged, simulated.Split:
		k.counts.Faults++
	default:
	}
}

// inOrder checks I6 while a gang is paused or resumed: no member acts before a member of lower
// rank that has not acted yet.
func (k *Checker) inOrder(rec gang.Record, ch simulated.Change, phase gang.Phase, still hypervisor.CopyState) {
	if rec.Phase != phase || rec.Then == gang.ThenBack {
		return // an aborted pause resumes the reachable members, whether or not others are silent
	}
	for _, c := range k.cluster.Truth().Copies {
		if c.VM.VJob == ch.VM.VJob && c.VM.Rank < ch.VM.Rank && c.State == still && c.Stamp == ch.Stamp {
			k.violate(6, "%s is %s before %s", ch.VM, ch.Kind, c.VM)
		}
	}
}

// Called checks a call just before it is made.
func (k *Checker) Called(_ time.Time, call hypervisor.Call) {
	k.counts.Calls++
	k.tell("   -> %d %s %s@%s %s", call.Op, call.Verb, call.VM, call.Node, call.To)
	if !k.intents[call.Op] {
		k.violate(10, "%s of %s on %s has no committed intent", call.Verb, call.VM, call.Node)
	}
	k.runnable(&call)
	starts := call.Verb == hypervisor.Boot || call.Verb == hypervisor.Restore || call.Verb == hypervisor.Unpause
	if !starts {
		return
	}
	for _, c := range k.cluster.Truth().Copies {
		if c.VM == call.VM && c.Node != call.Node {
			k.violate(16, "%s of %s on %s while %s has a copy that is %s", call.Verb, call.VM, call.Node, c.Node, c.State)
		}
	}
}

// Committed checks a step that has become durable.
func (k *Checker) Committed(step journal.Step) {
	for _, i := range step.Intents {
		k.intents[i.Call.Op] = true
	}
	for _, res := range step.Results {
		k.tell("   <- %d %s", res.Op, res.Error)
		k.refused(res)
	}
	for _, e := range step.Events {
		k.tell("%s: %s", e.Kind, e.TextFor(""))
		if e.Kind == journal.EventAlarm && strings.Contains(e.Text, "no decision can be taken") {
			k.violate(0, "%s", e.Text) // nothing here is broken by itself
		}
	}
	for _, rec := range step.Gangs {
		k.tell("vjob %s %s(%s): %s %+v", rec.VJob, rec.Phase, rec.Then, rec.Cause, rec.Members)
		k.phase(rec)
	}
	for _, rec := range step.Power {
		k.tell("node %s %s, wanted %s", rec.Node, rec.Phase, rec.Want)
		k.power[rec.Node] = rec
	}
	k.energy(&step)
	k.attempts(step)
	for _, change := range step.VJobs {
		if change.State == cluster.Booting {
			k.inTime(change)
		}
		k.transition(change)
	}
	k.counts.Switches += len(step.Plans)
}

// phase checks what the commit of a gang record promises.
func (k *Checker) phase(rec gang.Record) {
	before := k.gangs[rec.VJob]
	k.gangs[rec.VJob] = rec
	if rec.Losses > before.Losses {
		k.counts.Losses++
	}
	if before.Phase == rec.Phase {
		return
	}
	switch rec.Phase {
	case gang.Pausing:
		k.paused[rec.VJob] = nil
	case gang.Saving:
		k.skew(rec)
		if rec.Then != gang.ThenVerify { // else they were saved long ago
			k.noteEpochs(rec, k.cluster.Truth())
		}
	case gang.Paused:
		k.counts.Standstills++
		k.skew(rec)
		k.used[rec.VJob] = rec.Generation
	case gang.Saved:
		k.verifiedBeforeFreed(rec)
	case gang.Resuming:
		if rec.Then != gang.ThenBack {
			k.used[rec.VJob] = rec.Generation
		}
	case gang.Absent:
		k.used[rec.VJob] = rec.Generation
		for _, kept := range rec.Kept {
			if !kept.Used {
				k.used[rec.VJob] = min(k.used[rec.VJob], kept.Generation-1)
			}
		}
	default:
	}
}

func (k *Checker) skew(rec gang.Record) {
	at := k.paused[rec.VJob]
	if len(at) < 2 {
		return
	}
	if skew := at[len(at)-1].Sub(at[0]); skew > k.maxSkew {
		k.violate(6, "vjob %s is %s although its pauses were %s apart", rec.VJob, rec.Phase, skew)
	}
}

// verifiedBeforeFreed checks I4.
func (k *Checker) verifiedBeforeFreed(rec gang.Record) {
	truth := k.cluster.Truth()
	for _, c := range truth.Copies {
		if c.VM.VJob == rec.VJob {
			k.violate(4, "vjob %s is saved while %s has a copy of %s", rec.VJob, c.Node, c.VM)
		}
	}
	for rank, m := range rec.Members {
		if m.Ended {
			continue
		}
		if m.Image == nil {
			k.violate(4, "vjob %s is saved without an image of rank %d", rec.VJob, rank)
			continue
		}
		found := false
		for _, i := range truth.Images {
			if i.ID == m.Image.ID {
				found = true
				if !i.Complete || !i.Durable {
					k.violate(4, "image %s is called saved: complete %v, durable %v", i.ID, i.Complete, i.Durable)
				}
			}
		}
		if !found {
			k.violate(4, "image %s is called saved and is not there", m.Image.ID)
		}
	}
}

// refused checks I8 and I21 in runs without faults: no call is refused for lack of memory or of
// space for an image.
func (k *Checker) refused(res journal.Result) {
	switch {
	case !k.calm:
	case strings.Contains(res.Error, hypervisor.ErrNoMemory.Error()):
		k.violate(8, "call %d: %s", res.Op, res.Error)
	case strings.Contains(res.Error, hypervisor.ErrNoSpace.Error()):
		k.violate(21, "call %d: %s", res.Op, res.Error)
	}
}

// transition checks I17.
func (k *Checker) transition(c journal.VJobChange) {
	before, known := k.jobs[c.ID]
	if !known {
		before = journal.VJobChange{ID: c.ID, State: cluster.Waiting, Held: c.Held}
	}
	if c.State != before.State && !before.State.CanBecome(c.State) {
		k.violate(17, "vjob %s goes from %s to %s", c.ID, before.State, c.State)
	}
	if c.Version != before.Version+1 {
		k.violate(17, "vjob %s goes from version %d to %d", c.ID, before.Version, c.Version)
	}
	if c.State.Terminal() == (c.Outcome == cluster.Open) || (c.State == cluster.Failed) != (c.Outcome == cluster.Broken || c.Outcome == cluster.Unsuccessful) {
		k.violate(17, "vjob %s is %s with outcome %s", c.ID, c.State, c.Outcome)
	}
	if c.Outcome == cluster.Completed {
		k.allDone(c.ID)
	}
	k.exits(c)
	if before.State.Terminal() {
		k.violate(14, "vjob %s was %s and is %s", c.ID, before.State, c.State)
	}
	k.jobs[c.ID] = c
	k.churn(c)
}

// allDone checks I7 for a vjob that has completed: every guest, or only the first if its end
// ends the vjob, has shut itself down in the current incarnation. Which of the two applies is
// unknown for a vjob that was never acknowledged.
func (k *Checker) allDone(id cluster.VJobID) {
	_, known := k.ties.owner[id]
	for rank := range k.gangs[id].Members {
		if rank > 0 && (k.ties.led[id] || !known) {
			return
		}
		vm := cluster.VMID{VJob: id, Rank: rank}
		if k.done[vm] != k.gangs[id].Incarnation {
			k.violate(7, "vjob %s has terminated, but the guest of %s has not ended its work", id, vm)
		}
	}
}

// Look checks the truth, if it has changed since the last call. Call it after every event.
func (k *Checker) Look() {
	if !k.changed {
		return
	}
	k.changed = false
	truth := k.cluster.Truth()
	running := map[cluster.VMID]cluster.NodeID{}
	for _, c := range truth.Copies {
		rec := k.gangs[c.VM.VJob]
		if _, known := k.left[c.VM]; known {
			continue // there is no record of it
		}
		if c.State == hypervisor.CopyRunning {
			if other, twice := running[c.VM]; twice {
				k.violate(1, "%s runs on %s and on %s", c.VM, other, c.Node)
			}
			running[c.VM] = c.Node
			switch rec.Phase {
			case gang.Paused, gang.Saving, gang.Saved, gang.Restoring, gang.Moving:
				if c.Stamp.Incarnation == rec.Incarnation {
					k.violate(5, "%s runs on %s while its gang is %s", c.VM, c.Node, rec.Phase)
				}
			default:
			}
		}
		if rec.Phase == gang.Saved && c.Stamp.Incarnation == rec.Incarnation {
			k.violate(4, "%s has a copy on %s although its gang is saved", c.VM, c.Node)
		}
		if c.Stamp.Incarnation > rec.Incarnation {
			k.violate(15, "%s on %s has incarnation %d, its record says %d", c.VM, c.Node, c.Stamp.Incarnation, rec.Incarnation)
		}
	}
	for _, n := range truth.Nodes {
		if n.MemoryUsed > n.Capacity.Memory {
			k.violate(8, "node %s holds %s of %s", n.ID, n.MemoryUsed, n.Capacity.Memory)
		}
	}
}
