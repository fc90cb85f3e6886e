package nodepower

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
)

// offCandidates answers for the caretaker while somebody looks for places where VMs draw less.
type offCandidates struct {
	*Policy
	scene *Scene
}

var _ decide.NodePower = offCandidates{}

// OffCandidates tells what would go off at an instant; nil: nothing would, since somebody waits
// for room.
func (k *Policy) OffCandidates(s *Scene) decide.NodePower {
	if len(s.Waiting) > 0 && !k.Power.Limited() {
		return nil
	}
	return offCandidates{k, s}
}

// MayGoOff reports whether a node would go off once it is empty.
func (w offCandidates) MayGoOff(id cluster.NodeID) bool {
	n, known := w.Exec.Node(id)
	if r := w.switchable(id); !known || r == nil || r.Want != cycle.WantOn {
		return false
	}
	h, counts := w.host(&n)
	return counts && h.State == dpm.On && h.Fixed == "" && w.scene.Now.Sub(h.Since) >= w.settings.MinOn
}

// Fill is up to where the rules let nodes be in use.
func (w offCandidates) Fill() float64 { return w.settings.Fill() }

// Objects says why the rules would have some of these nodes on. Where somebody waits for
// power the nodes that are left empty are shed for him, whatever the rules say.
func (w offCandidates) Objects(nodes []cluster.NodeID) string {
	if len(w.scene.Waiting) > 0 {
		return ""
	}
	world := w.world(w.scene)
	return w.settings.Objects(world, w.settings.Balance(world, evenly), nodes)
}

// emptyTimeout is how long nodes that were handed over may take to become empty.
const emptyTimeout = 30 * time.Minute

// Hand hands nodes over that VMs are about to leave for good: they go off once they are
// empty, without the rules' having to notice first.
func (k *Policy) Hand(now time.Time, nodes []cluster.NodeID) {
	for _, id := range nodes {
		k.handed[id] = now.Add(emptyTimeout)
	}
}

// dismiss switches nodes off that were handed over and are empty by now, if the rules would
// not have them on again.
func (k *Policy) dismiss(s *Scene) {
	for _, id := range slices.Sorted(maps.Keys(k.handed)) {
		r := k.switchable(id)
		switch {
		case r == nil || r.Phase != cycle.On || r.Want != cycle.WantOn || s.Now.After(k.handed[id]):
			delete(k.handed, id)
		case k.Exec.Holding(id) == "":
			delete(k.handed, id)
			if len(s.Waiting) == 0 && (offCandidates{k, s}).Objects([]cluster.NodeID{id}) == "" {
				k.Controller.Wish(s.Now, id, cycle.WantOff, "nothing runs there since VMs were moved to save power")
			}
		}
	}
}
