package gang

import (
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// paused keeps one paused copy of each member. A late call or an administrator may have let a member
// continue: it is paused again, since other VMs may have its CPU and the rest of its gang is paused.
func (t *turn) paused() {
	t.keepCopies(hypervisor.CopyRunning, func(rank int, f Found) {
		t.alarms = append(t.alarms, fmt.Sprintf("%s ran on %s although its gang stands still: it is paused again", f.VM, f.Node))
		t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: f.Node})
	})
	t.discard(func(image hypervisor.Image) bool { return !image.Complete })
}

// stand makes the gang Paused where its copies are. Images that were written of it are unusable from the
// commit of this record on, as they are when a gang resumes.
func (t *turn) stand(cause *cluster.Cause) {
	skew := t.rec.Skew
	t.rec.mark()
	t.enter(Paused, ThenNothing, cause)
	t.rec.Skew = skew
}
