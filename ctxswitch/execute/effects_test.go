package execute_test

import (
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Effects that are appended come after those that were there; the earlier wake counts.
func TestEffectsAreAppended(t *testing.T) {
	soon, late := start.Add(time.Second), start.Add(time.Minute)
	for _, c := range []struct{ first, second, want time.Time }{
		{soon, late, soon}, {late, soon, soon}, {late, time.Time{}, late}, {time.Time{}, late, late},
	} {
		for _, store := range [][2]bool{{false, false}, {true, false}, {false, true}} {
			effects := func(op hypervisor.OpID, node cluster.NodeID, store bool, wake time.Time) execute.Effects {
				return execute.Effects{
					Step:   journal.Step{Results: []journal.Result{{Op: op}}},
					Chains: []execute.Chain{{Calls: []hypervisor.Call{{Op: op}}}}, Looks: []cluster.NodeID{node}, LookStore: store, Wake: wake,
				}
			}
			got, later := effects(1, "a", store[0], c.first), effects(2, "b", store[1], c.second)
			got.Append(&later)
			want := effects(1, "a", store[0] || store[1], c.want)
			want.Step.Results = append(want.Step.Results, journal.Result{Op: 2})
			want.Chains = append(want.Chains, later.Chains...)
			want.Looks = append(want.Looks, "b")
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}
