package decide_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/scheduler/balance"
	"vjob/scheduler/decide"
)

// uneven returns a request to balance VMs that use more on some nodes than on others.
func uneven(rng *rand.Rand, w *world, set *decide.Settings) *decide.BalanceRequest {
	set.Live = true
	s := balance.Default
	s.CostBenefit, s.MaxMoves, s.MaxPerNode, s.Threshold = false, 0, 0, 0.01
	uses := map[cluster.VMID]cluster.MilliCPU{}
	for _, m := range w.jobs {
		for rank := range m.at {
			vm := &m.job.VMs[rank]
			uses[vm.ID] = cluster.MilliCPU(rng.IntN(1 + int(vm.Reserved.CPU)))
		}
	}
	return &decide.BalanceRequest{
		Settings: s, Fill: 1, Split: true,
		Uses: func(vm cluster.VMID) (now, least, most cluster.MilliCPU) { return uses[vm], uses[vm], uses[vm] },
	}
}

// In any setting VMs that are held do not move, those that are manual move only among what waits, and what waits without
// being manual belongs to what is: it is of the same set, or has to move before.
func TestMoveModesOfWorlds(t *testing.T) {
	plans, waits, together := 0, 0, 0
	seeds(t, func(rng *rand.Rand, w *world) {
		set := settings()
		for i := range w.jobs {
			w.jobs[i].job.Moves = cluster.MoveMode(rng.IntN(3))
		}
		ask := uneven(rng, w, set)
		d := decided(t, decide.NewView(set, w.running()))
		if !d.Plan.Empty() {
			return
		}
		b := d.Balance(ask)
		mode := func(m *decide.BalanceMove) cluster.MoveMode { return w.of(m.VM).job.Moves }
		for i := range b.Moves {
			if mode(&b.Moves[i]) != cluster.MovesAutomatic {
				t.Errorf("%s of a vjob that is %s", b.Moves[i].Move, mode(&b.Moves[i]))
			}
		}
		for _, a := range b.Plan.Actions {
			if !slices.ContainsFunc(b.Moves, func(m decide.BalanceMove) bool { return m.VM == a.VM }) {
				t.Errorf("the plan moves %s besides", a.VM)
			}
		}
		if len(b.Waiting) > 0 {
			waits++
		}
		if len(b.Moves) > 0 {
			plans++
		}
		for i := range b.Waiting {
			m := &b.Waiting[i]
			if mode(m) == cluster.MovesNever || slices.ContainsFunc(b.Moves, func(o decide.BalanceMove) bool { return o.VM == m.VM }) {
				t.Errorf("%s waits, and is %s or moves already", m.Move, mode(m))
			}
			if mode(m) == cluster.MovesManual {
				continue
			}
			together++
			if !slices.ContainsFunc(b.Waiting, func(o decide.BalanceMove) bool {
				return o.VM != m.VM && (o.Set != 0 && o.Set == m.Set || slices.Contains(o.After, i))
			}) {
				t.Errorf("%s waits without need: %+v", m.Move, b.Waiting)
			}
		}
		var all []cluster.Move
		for i := range b.Waiting {
			all = append(all, b.Waiting[i].Move)
		}
		if len(b.Moves) == 0 && len(all) > 0 {
			if _, _, why := d.Relocate(all); why != "" {
				t.Errorf("what waits is not possible: %s", why)
			}
		}
	})
	t.Logf("%d worlds with moves, %d with moves that wait, %d of them with others", plans, waits, together)
	if plans < 40 || waits < 20 || together < 1 {
		t.Error("that says little")
	}
}

// Without a split all moves are found alike, except those of VMs that are held; consolidation and moves that were
// approved keep to that as well.
func TestHeldVMsAreNotRelocated(t *testing.T) {
	moves, refused := 0, 0
	seeds(t, func(rng *rand.Rand, w *world) {
		set := settings()
		ask := uneven(rng, w, set)
		ask.Split = false
		saves := thrift(w, set)
		d := decided(t, decide.NewView(set, w.running()))
		if !d.Plan.Empty() {
			return
		}
		b := d.Balance(ask)
		if len(b.Moves) == 0 || len(b.Waiting) > 0 {
			return
		}
		moves++
		id := b.Moves[0].VM.VJob
		w.of(b.Moves[0].VM).job.Moves = cluster.MovesNever
		d = decided(t, decide.NewView(set, w.running()))
		if _, _, why := d.Relocate(b.List()); strings.Contains(why, "is held by its owner (never)") {
			refused++
		} else {
			t.Errorf("vjob %s: %q", id, why)
		}
		again, c := d.Balance(ask), d.Consolidate(saves)
		for _, m := range slices.Concat(again.List(), c.Moves) {
			if m.VM.VJob == id {
				t.Errorf("%s of a vjob that is held", m)
			}
		}
	})
	if moves < 40 || refused != moves {
		t.Errorf("%d worlds with moves, %d refused", moves, refused)
	}
}
