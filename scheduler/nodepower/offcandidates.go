package nodepower

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/whatif"
	"vjob/scheduler/decide"
)

// offCandidates tells consolidation which nodes power management would switch off.
type offCandidates struct {
	*Policy
	scene *Scene
}

var _ decide.NodePower = offCandidates{}

// OffCandidates returns what would go off at an instant; nil if nothing because vjobs wait for
// resources.
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
	return counts && h.State == dpm.On && h.FixedReason == "" && w.scene.Now.Sub(h.Since) >= w.settings.MinOn
}

// MostInUse returns up to which fraction the rules let nodes be in use.
func (k *Policy) MostInUse() float64 { return k.settings.MaxUtilisation() }

// Fill returns up to which fraction the rules let nodes be in use.
func (w offCandidates) Fill() float64 { return w.MostInUse() }

// Objects returns why the rules would keep some of these nodes on. While vjobs wait for power, empty
// nodes are shed whatever the rules say.
func (w offCandidates) Objects(nodes []cluster.NodeID) string {
	if len(w.scene.Waiting) > 0 {
		return ""
	}
	world := w.world(w.scene)
	return w.settings.Veto(world, whatif.Rebalance(balance.Default, &w.settings.Settings, world), nodes)
}

// emptyTimeout is how long nodes that were handed over may take to become empty.
const emptyTimeout = 30 * time.Minute

// Hand marks nodes that VMs are about to leave for good: they go off once they are empty, before the
// rules notice.
func (k *Policy) Hand(now time.Time, nodes []cluster.NodeID) {
	for _, id := range nodes {
		k.handed[id] = now.Add(emptyTimeout)
	}
}

// dismiss switches off marked nodes that are empty, unless the rules would switch them on again.
func (k *Policy) dismiss(s *Scene) {
	for _, id := range slices.Sorted(maps.Keys(k.handed)) {
		r := k.switchable(id)
		switch {
		case r == nil || r.Phase != cycle.On || r.Want != cycle.WantOn || s.Now.After(k.handed[id]):
			delete(k.handed, id)
		case k.Exec.PowerStates.InUse(id) == "":
			delete(k.handed, id)
			if len(s.Waiting) == 0 && (offCandidates{k, s}).Objects([]cluster.NodeID{id}) == "" && s.View().CanEmpty([]cluster.NodeID{id}) {
				k.Controller.Wish(s.Now, id, cycle.WantOff, "nothing runs there since VMs were moved to save power")
			}
		}
	}
}
