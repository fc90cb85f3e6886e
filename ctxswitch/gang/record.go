// Package gang is the protocol that takes one vjob from one stable state to
// another as a whole: pause all members in order, save all, and only then free
// the room; restore all paused, mark the generation as used, resume in order.
//
// It is a pure function from a durable [Record] and what is observed to the next
// record and the next calls. Nothing but the record is remembered, so continuing
// after a crash is the same code as continuing after a reply. The paths of a gang that
// reaches its aim are:
//
//	boot     Absent -> Creating -> Active
//	suspend  Active -> Pausing -> Saving -> Saved
//	resume   Saved -> Restoring -> Resuming -> Active
//	migrate  Active -> Pausing -> Moving -> Resuming -> Active; live: Active -> Shifting -> Active
//	pause    Active -> Pausing -> Paused, and to unpause, Paused -> Resuming -> Active
//	stop     any phase -> Clearing -> Absent
//
// An [Aim] is one action for all members. [Record.Begin] enters its first phase. A look is one
// observation of a node or of the image store. A [Sight] is what the looks show of one member, and
// [Input] has the sights of all. A [Turn] is what one [Step] decides: the next record, and the calls
// to make after its commit. [Input.Retreat] is the reason to give the aim up: unless the gang is
// Resuming or Clearing already, it turns back as a whole to the stable phase that it came from.
//
// Read record.go first (the phases and the record), then turn.go (the input and the output of a
// step), begin.go (the aims) and step.go (each phase and its function; gangs that boot or run).
// suspend.go and paused.go lead to Saved and Paused, resume.go from there to Active, move.go to other
// nodes, and clear.go to Absent. lose.go is for a gang with lost memory, and for the images that it
// keeps. container.go stands alone: the members of a container are room, not VMs.
package gang

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Phase is the durable step of the protocol. Every call that a phase makes was
// allowed by the commit of the phase.
type Phase uint8

// The phases. Absent, Active, Paused and Saved are stable.
const (
	Absent    Phase = iota // no copy, no image
	Creating               // members are booted, each on its Next
	Active                 // every member runs on its Node
	Pausing                // members are paused in rank order; Then says what for
	Paused                 // every member is paused on its Node: it uses memory and no CPU
	Saving                 // paused members are written to images of Generation
	Saved                  // every image is sealed, no copy exists, no room is used
	Restoring              // members are restored, paused, each on its Next
	Resuming               // durable mark: no image is restored any more; members are unpaused in order
	Moving                 // paused members migrate to their Next
	Shifting               // running members migrate to their Next, one by one
	Clearing               // copies are destroyed and images deleted; Then says what comes after
)

var phaseNames = [...]string{
	"absent", "creating", "active", "pausing", "paused", "saving", "saved",
	"restoring", "resuming", "moving", "shifting", "clearing",
}

// String is the lower-case name.
func (p Phase) String() string { return phaseNames[p] }

// MarshalText writes the name of the phase.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name of a phase.
func (p *Phase) UnmarshalText(b []byte) error {
	if i := slices.Index(phaseNames[:], string(b)); i >= 0 {
		*p = Phase(i)
		return nil
	}
	return cluster.BadField("phase", string(b), "a phase of the gang protocol")
}

// Stable reports whether the phase is one in which nothing is under way.
func (p Phase) Stable() bool { return p == Absent || p == Active || p == Paused || p == Saved }

// HasCopies reports whether each member that takes part has a copy, or is being booted. In other phases it may be an
// image, or nothing.
func (p Phase) HasCopies() bool {
	switch p {
	case Creating, Active, Pausing, Paused, Shifting, Resuming, Moving:
		return true
	default:
		return false
	}
}

// Record is all that is durable about the gang of one vjob. Its members never change: what
// changes makes another record, so those that have not begun may share them.
type Record struct {
	VJob        cluster.VJobID
	Phase       Phase
	Then        Then // what Pausing or Clearing leads to
	Since       time.Time
	Incarnation int // which boot from scratch the present life began with; 0 before the first
	Boots       int // boots so far, if an earlier life than the last was restored; otherwise 0 is enough
	Generation  int // suspensions to disk so far; names the images
	UsedUpTo    int `json:"Used"` // all members have run since the images up to this generation were written
	Restores    int // attempts to restore so far; names their links
	Losses      int // times that the vjob was lost and queued again
	Members     []Member
	Kept        []Kept         // images of earlier lives that are kept, in order of generations
	Cause       *cluster.Cause // why the phase was entered
	Skew        time.Duration  // between the first and the last pause or unpause of the phase
}

// Then is what follows a phase that can lead to several.
type Then uint8

// The continuations.
const (
	ThenNothing      Then = iota
	ThenSave              // Pausing: go on to Saving. Restoring: give up and be Saved again
	ThenMove              // Pausing: go on to Moving
	ThenWait              // Clearing: the vjob waits again, as if it had never run
	ThenTerminate         // Clearing: a user has ended the vjob
	ThenFail              // Clearing: the vjob has failed
	ThenBack              // Resuming: a pause was aborted; nothing was restored, no member moved
	ThenComplete          // Clearing: all guests have shut themselves down, or the one that works for all
	ThenExpire            // Clearing: the walltime of the vjob is over
	ThenStand             // Pausing: be Paused. Saving, Restoring: give up and be Paused again
	ThenUnsuccessful      // Clearing: as ThenComplete, and the work failed
	ThenVerify            // Saving: an administrator restores kept images, which are sealed again
)

var thenNames = [...]string{"", "save", "move", "wait", "terminate", "fail", "back", "complete", "expire", "stand", "unsuccessful", "verify"}

var outcomes = map[Then]cluster.Outcome{
	ThenTerminate: cluster.Deleted, ThenFail: cluster.Broken, ThenComplete: cluster.Completed, ThenExpire: cluster.WalltimeExceeded,
	ThenUnsuccessful: cluster.Unsuccessful,
}

// Outcome is how a vjob has ended if it is cleared with t; Open if it has not.
func (t Then) Outcome() cluster.Outcome { return outcomes[t] }

// InOrder reports whether a vjob that is cleared with t has ended in order: guests that have shut
// themselves down before count as done.
func (t Then) InOrder() bool { return t.Outcome() != cluster.Open && t != ThenFail }

// String is the lower-case name, "" for none.
func (t Then) String() string { return thenNames[t] }

// MarshalText writes the name.
func (t Then) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name.
func (t *Then) UnmarshalText(b []byte) error {
	if i := slices.Index(thenNames[:], string(b)); i >= 0 {
		*t = Then(i)
		return nil
	}
	return cluster.BadField("then", string(b), "a continuation of a gang phase")
}

// Member is what is durable about one VM of the gang.
type Member struct {
	Node  cluster.NodeID     // where its copy is, or was last; "" before the first boot
	Next  cluster.NodeID     // where a boot, restore or migration takes it; "" when it stays
	Ended bool               // its guest shut itself down: it takes no further part
	Exit  cluster.ExitStatus `json:",omitzero"` // of a member that ended
	Image *Image             // sealed image of the present generation
	Save  int                // attempt of the present generation, from 1; 0 before the first
}

// Kept says that the images of one generation are kept although the vjob was lost: an
// administrator may restore them, or rescue what is in them.
type Kept struct {
	Generation  int                  `json:"generation"`
	Incarnation int                  `json:"incarnation"` // of the copies that were saved; 0 where only the images tell
	Since       time.Time            `json:"since"`
	Cause       string               `json:"cause"`            // why the vjob was lost, for people
	Used        bool                 `json:"used,omitempty"`   // members may have run since: the memory may be older than the disks
	Newer       bool                 `json:"newer,omitempty"`  // the record did not know the generation: kept until an administrator decides
	Ended       []int                `json:"ended,omitempty"`  // ranks of the members that took no further part
	Exits       []cluster.ExitStatus `json:"exits,omitempty"`  // theirs, in this order; absent in records of older versions
	Wanted      bool                 `json:"wanted,omitempty"` // an administrator restores it, and not every member runs yet
}

// Image is a sealed image: durable, and known by its checksum.
type Image struct {
	ID       hypervisor.ImageID
	Node     cluster.NodeID // where it lies
	Bytes    int64
	Checksum string
	// Incarnation is that of the copy that was saved; 0 where the driver cannot tell.
	Incarnation int
}

// member is the name of one VM.
func (r *Record) member(rank int) cluster.VMID { return cluster.VMID{VJob: r.VJob, Rank: rank} }

// Exits are the exit statuses of the members, in rank order.
func (r *Record) Exits() []cluster.ExitStatus {
	list := make([]cluster.ExitStatus, len(r.Members))
	for i := range r.Members {
		list[i] = r.Members[i].Exit
	}
	return list
}

// boots counts the boots from scratch so far.
func (r *Record) boots() int { return max(r.Boots, r.Incarnation) }

// Clone copies the record deeply enough to be changed.
func (r *Record) Clone() *Record {
	c := *r
	c.Members = slices.Clone(r.Members)
	c.Kept = slices.Clone(r.Kept)
	return &c
}

// Paused reports whether the gang is paused in memory until an aim lets it run: it uses no CPU, and
// no failure resumes it.
func (r *Record) Paused() bool {
	return r.Phase == Paused || r.Then == ThenStand && (r.Phase == Saving || r.Phase == Restoring)
}

// State is what users are shown for the phase. Terminal states are those of the
// vjob, not of its gang, so Absent is shown as Waiting.
func (r *Record) State() cluster.State {
	switch r.Phase {
	case Creating:
		return cluster.Booting
	case Active:
		return cluster.Running
	case Pausing:
		if r.Then == ThenMove {
			return cluster.Migrating
		}
		return cluster.Suspending
	case Saving:
		return cluster.Suspending
	case Paused:
		return cluster.Paused
	case Saved:
		return cluster.Suspended
	case Restoring, Resuming:
		return cluster.Resuming
	case Moving, Shifting:
		return cluster.Migrating
	case Clearing:
		return cluster.Stopping
	default:
		return cluster.Waiting
	}
}
