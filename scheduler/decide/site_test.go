package decide

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
)

// A site that is made of another one is as one that is made anew, and leaves the other as it was.
func TestSiteOfAnother(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	node := func(i int) *execute.NodeReport {
		n := &execute.NodeReport{Node: cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), State: cluster.NodeState(chance.IntN(4))}}
		n.Capacity = cluster.Resources{CPU: cluster.MilliCPU(1000 * chance.IntN(3)), Memory: cluster.MiB(1024 * chance.IntN(3))}
		n.Foreign.CPU = cluster.MilliCPU(500 * chance.IntN(2))
		if chance.IntN(2) == 0 {
			n.Labels = map[string]string{"rack": fmt.Sprint(chance.IntN(2))}
		}
		return n
	}
	var nodes []*execute.NodeReport
	for i := range 5 {
		nodes = append(nodes, node(i))
	}
	site, same, changed, grown := (*Site)(nil).With(nodes, 2), 0, 0, 0
	for range 2000 {
		before := site.empty.String()
		next := slices.Clone(nodes)
		switch i := chance.IntN(len(next)); chance.IntN(8) {
		case 0:
			next = append(next, node(len(next)))
			if grown++; len(next) > 12 {
				next = next[:5]
			}
		case 1, 2, 3:
			next[i] = node(i)
		case 4: // it is seen to use more
			used := *next[i]
			used.Used.CPU++
			next[i] = &used
		}
		got, want := site.With(next, 2), (*Site)(nil).With(next, 2)
		if got.empty.String() != want.empty.String() || !reflect.DeepEqual(got.empty.Nodes(), want.empty.Nodes()) || !reflect.DeepEqual(got.planning, want.planning) {
			t.Fatalf("of another site:\n%s\nanew:\n%s", got.empty, want.empty)
		}
		if after := site.empty.String(); after != before {
			t.Fatalf("the other site was\n%s\nand is\n%s", before, after)
		}
		if got.planning == site.planning {
			same++
		} else {
			changed++
		}
		nodes, site = next, got
	}
	if same < 500 || changed < 500 || grown < 100 {
		t.Errorf("%d the same, %d changed, %d with a new node: the test is blind", same, changed, grown)
	}
}

// The nodes of a site serve plans as long as no node of the layout has changed.
func TestSiteServesPlans(t *testing.T) {
	n := &execute.NodeReport{Node: cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: 1024}}}
	l := newLayout((*Site)(nil).With([]*execute.NodeReport{n}, 0), false)
	need, vm := cluster.Resources{CPU: 1000, Memory: 512}, cluster.VMID{VJob: 1}
	l.current.SetWaiting(vm, need)
	plan := func() error {
		_, err := ctxswitch.Repacker{}.Plan(ctxswitch.Problem{
			Current: l.current, Nodes: l.nodes, Gangs: []ctxswitch.Goal{{VJob: 1, Want: cluster.VMRunning}}, Costs: ctxswitch.ThesisCosts,
		})
		return err
	}
	if err := plan(); err != nil {
		t.Fatal(err)
	}
	l.setNode(cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 500, Memory: 1024}})
	if err := plan(); err == nil {
		t.Error("a node that has become too small takes the VM")
	}
}
