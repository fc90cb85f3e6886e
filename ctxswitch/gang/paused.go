package gang

import (
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// paused keeps a gang in memory as the record says: one paused copy of each member. A late call
// or an administrator may have let a member continue: it is paused again, since its room is given
// to others and its gang is paused.
func (t *turn) paused() {
	t.keep(hypervisor.CopyRunning, func(rank int, f Found) {
		t.alarms = append(t.alarms, fmt.Sprintf("%s ran on %s although its gang stands still: it is paused again", f.VM, f.Node))
		t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: f.Node})
	})
	t.discard(func(image hypervisor.Image) bool { return !image.Complete })
}

// stand makes the gang stay in memory as it stands there. What was written of it is
// unusable from the commit of this record on, as it is when a gang resumes.
func (t *turn) stand(cause cluster.Cause) {
	skew := t.rec.Skew
	t.rec.mark()
	t.enter(Paused, ThenNothing, cause)
	t.rec.Skew = skew
}
