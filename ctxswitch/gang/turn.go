package gang

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Input is what a step knows beside the record: the members as they were seen after every call
// on them had ended, and the limits to keep.
type Input struct {
	Now    time.Time
	VJob   *cluster.VJob
	Sights []Sight // one per member, in rank order
	// Store is the image store as seen after the last call that could change it;
	// nil when it has not been seen since.
	Store   *hypervisor.Store
	StoreAt time.Time // when the look at Store ended
	Limits  Limits
	Epoch   int64 // stamped into what is booted
	// Skew is how far apart the last chain of pauses paused its members.
	Skew time.Duration
	// Retreat says why the aim of the phase is to be given up; "" to go on.
	Retreat string
	// May asks for the room and the transfer slot that a call needs, and takes
	// them. It is asked once per call, and only for calls that would be made now.
	May func(call hypervisor.Call) bool
	// Space reserves room for images where each member runs, all or nothing, and
	// says what is missing, "" when nothing is.
	Space func(need map[cluster.NodeID]cluster.MiB) string
}

// Limits bounds the protocol.
type Limits struct {
	MaxSkew        time.Duration // between the first and the last pause (I6)
	MaxTries       int           // calls per member and phase before the gang turns back
	MaxLosses      int           // times that a lost vjob is queued again
	StopGrace      time.Duration // between asking a guest to shut down and ending it; 0 ends it at once
	Margin         cluster.MiB   // left free on each image store
	DepartureGrace time.Duration // how long to wait for the cause after a guest was seen no more
	// StoreLag is how old what a look at the image store shows may be: clients of file
	// servers cache directories (NFS: acdirmax, 60 s).
	StoreLag time.Duration
}

// DefaultLimits are used where the settings name none.
var DefaultLimits = Limits{
	MaxSkew: 5 * time.Second, MaxTries: 3, MaxLosses: 3,
	StopGrace: 30 * time.Second, Margin: 64, DepartureGrace: 5 * time.Second, StoreLag: 2 * time.Minute,
}

// Sight is one member as it was seen.
type Sight struct {
	Found    []Found            // copies on nodes that were seen, in order of nodes
	Blind    []cluster.NodeID   // nodes that may hold a copy and were not seen
	Busy     bool               // a call is under way, or its outcome has not been looked at
	BacksOff bool               // Busy for no other reason than that its next call is not due yet
	Gone     bool               // the driver saw the guest leave, and Cause says how
	Cause    hypervisor.Cause   // of Gone
	Exit     cluster.ExitStatus // of a guest that shut itself down
	Fenced   bool               // it is gone with its node, which was declared down
	Tries    int                // calls made for the member in this phase
	Err      error              // what the last of them said
	Sealed   map[string]*Image  // by name: seals that succeeded
	// Discarded has the images that were deleted in this phase.
	Discarded map[hypervisor.ImageID]bool
	More      bool          // another hop of its migration follows
	Late      bool          // a job on a copy lasts far longer than it may
	Absent    time.Duration // for how long no copy has been seen where one should be
	// Revoked is the highest attempt that was revoked in this phase; 0: no attempt was.
	Revoked int
}

// Found is a copy and where it is.
type Found struct {
	Node cluster.NodeID
	hypervisor.Copy
}

// Turn is what a step decides: the record as it is to be committed, the calls to
// make after that commit, and what there is to say.
type Turn struct {
	Record  Record
	Changed bool
	// Chains are made side by side; the calls of one chain in order, and only
	// while each ends well. Operation numbers are still to be given.
	Chains [][]hypervisor.Call
	Wait   string // what the gang waits for when it makes no call
	Alarms []string
	Hold   string // why the vjob is to be held until an administrator has looked; "" for no reason
}

// turn is a step in the making.
type turn struct {
	Input
	rec     *Record
	chains  [][]hypervisor.Call
	wait    string
	alarms  []string
	hold    string
	changed bool // the record was changed
}

// call adds a chain of calls on one member.
func (t *turn) call(rank int, calls ...hypervisor.Call) {
	t.chains = append(t.chains, t.address(rank, calls))
}

func (t *turn) address(rank int, calls []hypervisor.Call) []hypervisor.Call {
	for i := range calls {
		calls[i].VM = t.VJob.VMs[rank].ID
	}
	return calls
}

// enter moves the record to a phase.
func (t *turn) enter(p Phase, then Then, cause *cluster.Cause) {
	t.rec.Phase, t.rec.Then, t.rec.Since, t.rec.Cause = p, then, t.Now, cause
	t.rec.Skew = 0
	t.changed = true
}

// aborted is the cause of a gang that is turned back.
func aborted(why string) *cluster.Cause { return &cluster.Cause{Kind: cluster.CauseAborted, Text: why} }

// holdFor keeps the vjob from being started until an administrator has looked. The first
// reason counts.
func (t *turn) holdFor(reason string) {
	if t.hold == "" {
		t.hold = reason
		t.alarms = append(t.alarms, reason)
	}
}

func (t *turn) waitFor(what string) {
	if t.wait == "" {
		t.wait = what
	}
}

// underWay waits for a job on a copy, whatever started it, and cancels it when it lasts far too
// long.
func (t *turn) underWay(rank int, f Found) {
	t.waitFor(fmt.Sprintf("%s is %s", f.VM, f.Job))
	if t.Sights[rank].Late && !t.Sights[rank].Busy {
		t.call(rank, hypervisor.Call{Verb: hypervisor.Abort, Node: f.Node})
	}
}

// own returns the copies of a member's present life. See noteEndings for when there is one at least.
func (t *turn) own(rank int) []Found {
	found := t.Sights[rank].Found
	foreign := func(f Found) bool { return f.Stamp.Incarnation != t.rec.Incarnation }
	if !slices.ContainsFunc(found, foreign) {
		return found // as nearly always
	}
	return slices.DeleteFunc(slices.Clone(found), foreign)
}

// blind names the silent nodes that may hold a copy of any member.
func (t *turn) blind() []cluster.NodeID {
	var list []cluster.NodeID
	for i := range t.Sights {
		for _, n := range t.Sights[i].Blind {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	slices.Sort(list)
	return list
}

func join(nodes []cluster.NodeID) string {
	text := make([]string, len(nodes))
	for i, n := range nodes {
		text[i] = string(n)
	}
	return strings.Join(text, ", ")
}

// live reports whether a member still takes part.
func (t *turn) live(rank int) bool { return !t.rec.Members[rank].Ended }

// quiet reports whether no call is under way on any member.
func (t *turn) quiet() bool {
	return !slices.ContainsFunc(t.Sights, func(s Sight) bool { return s.Busy })
}

// holder is the node to ask for an image of a member: a look at the store knows one that can reach it, where the node
// that saved the image may be off.
func (t *turn) holder(id hypervisor.ImageID, m Member) cluster.NodeID {
	if t.Store != nil {
		for i := range t.Store.Images {
			if image := &t.Store.Images[i]; image.ID == id {
				return image.Node
			}
		}
	}
	if m.Image != nil {
		return m.Image.Node
	}
	return m.Node
}
