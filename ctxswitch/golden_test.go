package ctxswitch_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
	"vjob/tests/golden"
)

// scene is a problem in the making. VMs are written "3.1"; a problem starts with
// all VMs able to migrate live and no goals.
type scene struct{ ctxswitch.Problem }

func newScene() *scene {
	return &scene{ctxswitch.Problem{
		Current: cluster.NewConfiguration(),
		Next:    map[cluster.VMID]cluster.Resources{},
		Claims:  map[cluster.NodeID]cluster.Resources{},
		Pinned:  map[cluster.VMID]bool{},
		Live:    map[cluster.VMID]bool{},
		Costs:   ctxswitch.ThesisCosts,
	}}
}

func vm(text string) cluster.VMID {
	id, err := cluster.ParseVMID(text)
	if err != nil {
		panic(err)
	}
	return id
}

func size(cpus, gib float64) cluster.Resources {
	return cluster.Resources{CPU: cluster.MilliCPU(cpus * 1000), Memory: cluster.MiB(gib * 1024)}
}

func (s *scene) node(id cluster.NodeID, cpus, gib float64) *scene {
	s.Current.SetNode(cluster.Node{ID: id, Capacity: size(cpus, gib)})
	return s
}

func (s *scene) state(id cluster.NodeID, state cluster.NodeState) *scene {
	n, _ := s.Current.Node(id)
	n.State = state
	s.Current.SetNode(n)
	return s
}

func (s *scene) running(id string, cpus, gib float64, node cluster.NodeID) *scene {
	s.Current.SetRunning(vm(id), size(cpus, gib), node)
	s.Live[vm(id)] = true
	return s
}

func (s *scene) paused(id string, cpus, gib float64, node cluster.NodeID) *scene {
	s.Current.SetPaused(vm(id), size(cpus, gib), node)
	s.Live[vm(id)] = true
	return s
}

func (s *scene) sleeping(id string, cpus, gib float64, node cluster.NodeID) *scene {
	s.Current.SetSleeping(vm(id), size(cpus, gib), node)
	return s
}

func (s *scene) waiting(id string, cpus, gib float64) *scene {
	s.Current.SetWaiting(vm(id), size(cpus, gib))
	return s
}

func (s *scene) want(state cluster.VMState, vjobs ...cluster.VJobID) *scene {
	for _, id := range vjobs {
		s.Gangs = append(s.Gangs, ctxswitch.Goal{VJob: id, Want: state})
	}
	return s
}

func (s *scene) fence(id string, nodes ...cluster.NodeID) *scene {
	return s.rule("continuous " + call("fence", []cluster.VMID{vm(id)}, nodes))
}

func (s *scene) rule(text string) *scene {
	s.Rules = append(s.Rules, placement.Rules{Text: text})
	return s
}

// call is a rule on VMs, and on nodes if there are any.
func call(name string, vms []cluster.VMID, nodes []cluster.NodeID) string {
	text := name + "(" + braces(vms)
	if len(nodes) > 0 {
		text += ", " + braces(nodes)
	}
	return text + ");"
}

func braces[T any](list []T) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprint(x)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// rigid forbids the live migration of the VMs.
func (s *scene) rigid(ids ...string) *scene {
	for _, id := range ids {
		delete(s.Live, vm(id))
	}
	return s
}

// together is a gather rule. Unlike a fence it lets a VM go a roundabout way.
func together(ids ...string) string { return "gather(" + braces(ids) + ");" }

// figure83 is thesis figure 8.3: VMs 1 and 2 change places. The memory of n1 stops
// VM 2, the CPU of n2 stops VM 1.
func figure83() *scene {
	return newScene().node("n1", 2, 3).node("n2", 1, 4).node("n3", 1, 1).
		running("1.0", 1, 2, "n1").running("2.0", 1, 1, "n2").running("9.0", 0, 0.5, "n1").pin("9.0").
		want(cluster.VMRunning, 1, 2, 9).fence("1.0", "n2").rule(together("2.0", "9.0"))
}

// figure84 is thesis figure 8.4: VM 4 is resumed, VM 5 suspended, VMs 1 and 2
// change places, and only the room that VM 5 leaves can serve as pivot.
func figure84() *scene {
	return newScene().node("n1", 2, 4).node("n2", 2, 3).node("n3", 2, 4).
		running("1.0", 1, 2, "n1").running("2.0", 1, 2.5, "n2").running("3.0", 0.5, 1.5, "n3").
		sleeping("4.0", 0.5, 1, "n1").running("5.0", 1, 2, "n3").
		want(cluster.VMRunning, 1, 2, 3, 4).want(cluster.VMSleeping, 5).
		fence("1.0", "n2").fence("4.0", "n1").rule(together("2.0", "4.0"))
}

// figure92 is thesis figures 9.1 and 9.2: j1 is suspended, j2 resumed, j3 moves.
func figure92() *scene {
	return newScene().
		node("n1", 2, 2).node("n2", 2, 2).node("n3", 2, 2).node("n4", 3, 3).node("n5", 2, 2).
		running("1.1", 1, 1, "n4").running("1.2", 1, 1, "n4").running("1.3", 1, 1, "n4").
		sleeping("2.4", 1, 1, "n4").sleeping("2.5", 1, 1, "n3").
		running("3.6", 1, 1, "n1").running("3.7", 2, 2, "n3").running("3.8", 1, 1, "n5").
		want(cluster.VMSleeping, 1).want(cluster.VMRunning, 2, 3).
		fence("2.4", "n4").fence("2.5", "n3").fence("3.6", "n2").fence("3.7", "n1").fence("3.8", "n3")
}

var scenes = map[string]*scene{
	"nothing to do": newScene().node("n1", 1, 1).running("1.0", 1, 1, "n1").want(cluster.VMRunning, 1),

	"figure 8.2 sequence": newScene().node("n1", 1, 2).node("n2", 1, 2).
		running("1.0", 1, 1, "n1").running("2.0", 0, 2, "n2").
		want(cluster.VMRunning, 1).want(cluster.VMSleeping, 2).fence("1.0", "n2"),

	"figure 8.3 circle with a pivot": figure83(),

	"figure 8.4 four steps": figure84(),

	"figure 9.2 gangs": figure92(),

	"circle without a pivot": newScene().node("n1", 2, 2).node("n2", 2, 2).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n2").
		running("2.0", 1, 1, "n2").running("2.1", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2).fence("1.0", "n2").fence("2.0", "n1"),

	"paused gang moves as a whole": newScene().node("n1", 4, 4).node("n2", 4, 4).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n1").rigid("1.1").
		want(cluster.VMRunning, 1).state("n1", cluster.Draining),

	"paused gang changes places within itself": newScene().node("n1", 1, 1).node("n2", 1, 1).node("n3", 1, 1).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n2").rigid("1.0", "1.1").
		want(cluster.VMRunning, 1).fence("1.0", "n2").fence("1.1", "n3"),

	"draining node is emptied as far as possible": newScene().node("n1", 3, 3).node("n2", 1, 2).
		running("1.0", 1, 2, "n1").running("2.0", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2).state("n1", cluster.Draining),

	"growth makes others move": newScene().node("n1", 2, 4).node("n2", 2, 4).
		running("1.0", 1, 1, "n1").running("2.0", 1, 0.5, "n1").waiting("3.0", 1, 1).
		want(cluster.VMRunning, 1, 2, 3).next("1.0", 2, 1),

	"overloaded node is relieved before it is used": newScene().node("n1", 2, 4).node("n2", 2, 4).
		running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n1").running("3.0", 1, 0.5, "n1").running("4.0", 1, 0.5, "n1").
		sleeping("5.0", 1, 1, "n1").
		want(cluster.VMRunning, 1).want(cluster.VMTerminated, 2).want(cluster.VMRunning, 3, 4, 5).
		fence("5.0", "n1").fence("3.0", "n2").fence("4.0", "n2"),

	"resume is local where the image fits": newScene().node("n1", 4, 4).node("n2", 4, 4).
		sleeping("1.0", 1, 1, "n2").sleeping("1.1", 4, 2, "n2").running("2.0", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2),

	"others are displaced for a large VM": newScene().node("n1", 4, 4).node("n2", 4, 4).
		running("1.0", 2, 2, "n1").running("2.0", 2, 2, "n2").waiting("3.0", 3, 3).
		want(cluster.VMRunning, 3, 1, 2),

	"spread VMs never meet": newScene().node("n1", 4, 4).node("n2", 4, 4).node("n3", 4, 4).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n2").
		want(cluster.VMRunning, 1).fence("1.0", "n2").fence("1.1", "n3").
		rule("continuous spread({1.0, 1.1});"),

	"transfers share a link": newScene().node("n1", 4, 8).node("n2", 4, 8).node("n3", 4, 8).
		running("1.0", 1, 2, "n1").running("2.0", 1, 2, "n1").running("3.0", 1, 2, "n1").
		want(cluster.VMRunning, 1, 2, 3).state("n1", cluster.Draining).
		links(&ctxswitch.Network{NIC: map[cluster.NodeID]cluster.Rate{"n1": 125_000_000}, Dirty: 5_000_000}),

	"a gang waits for transfer slots": newScene().node("n1", 5, 8).node("n2", 4, 8).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n1").running("1.2", 1, 1, "n1").running("1.3", 1, 1, "n1").running("1.4", 1, 1, "n1").
		sleeping("2.0", 2, 2, "n1").waiting("3.0", 3, 4).
		want(cluster.VMSleeping, 1).want(cluster.VMRunning, 2, 3).transfers(2),

	"transfers wait for those under way": newScene().node("n1", 4, 8).node("n2", 4, 8).
		running("1.0", 1, 2, "n1").running("2.0", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2).state("n1", cluster.Draining).transfers(1).busy("n2", 30*time.Second),

	"one stands still and another goes on": newScene().node("n1", 1, 2).node("n2", 1, 2).
		running("1.0", 1, 1, "n1").running("1.1", 1, 1, "n2").
		paused("2.0", 1, 1, "n1").paused("2.1", 1, 1, "n2").
		want(cluster.VMPaused, 1).want(cluster.VMRunning, 2),

	"one stands still and others come": newScene().node("n1", 2, 4).node("n2", 2, 4).
		running("1.0", 2, 1, "n1").running("1.1", 2, 1, "n2").waiting("2.0", 1, 3).sleeping("3.0", 1, 2, "n2").
		want(cluster.VMPaused, 1).want(cluster.VMRunning, 2, 3),

	"one that stands still is saved where its memory is wanted": newScene().node("n1", 2, 2).
		paused("1.0", 2, 1, "n1").paused("2.0", 1, 1, "n1").waiting("3.0", 1, 1).
		want(cluster.VMSleeping, 1).want(cluster.VMRunning, 2, 3),

	"one goes on when others have left": newScene().node("n1", 2, 8).node("n2", 2, 2).
		paused("1.0", 1, 2, "n1").running("2.0", 1, 1, "n1").running("3.0", 1, 1, "n1").
		want(cluster.VMRunning, 1, 2).want(cluster.VMSleeping, 3),

	"no plan for one that cannot go on where it stands": newScene().node("n1", 1, 2).node("n2", 1, 2).
		paused("1.0", 1, 1, "n1").running("2.0", 1, 1, "n1").want(cluster.VMRunning, 1, 2).pin("2.0"),

	"no plan for one that goes on only if a rule is broken": newScene().node("n1", 1, 2).node("n2", 1, 2).
		paused("1.0", 1, 1, "n1").running("2.0", 1, 1, "n1").want(cluster.VMRunning, 1, 2).rule("root(2.0);"),

	"no plan for one that stands on a node that is drained": newScene().node("n1", 1, 2).node("n2", 1, 2).
		paused("1.0", 1, 1, "n1").want(cluster.VMRunning, 1).state("n1", cluster.Draining),

	"gathered VMs come to the pinned one": newScene().node("n1", 1, 4).node("n2", 4, 4).
		running("1.0", 1, 1, "n2").running("2.0", 1, 1, "n1").waiting("3.0", 1, 1).
		want(cluster.VMRunning, 1, 2, 3).pin("1.0").
		rule(together("1.0", "2.0", "3.0")),

	"no plan for want of room": newScene().node("n1", 2, 2).node("n2", 1, 1).
		running("1.0", 2, 2, "n1").waiting("2.0", 1, 1).waiting("2.1", 1, 1).want(cluster.VMRunning, 1, 2),

	"no plan for want of one large node": newScene().node("n1", 2, 2).node("n2", 2, 2).
		running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n2").waiting("3.0", 2, 2).
		want(cluster.VMRunning, 1, 2, 3).pin("1.0").pin("2.0"),

	"no plan because of a rule": newScene().node("n1", 2, 2).node("n2", 2, 2).
		running("1.0", 2, 2, "n1").waiting("2.0", 1, 1).want(cluster.VMRunning, 1, 2).pin("1.0").fence("2.0", "n1"),

	"no plan while a node is down": newScene().node("n1", 2, 2).node("n2", 2, 2).
		running("1.0", 1, 1, "n1").want(cluster.VMRunning, 1).state("n1", cluster.Down),

	"no plan for a circle of gangs that cannot sleep": newScene().node("n1", 1, 1).node("n2", 1, 1).node("n3", 1, 1).
		running("1.0", 1, 1, "n1").running("2.0", 1, 1, "n2").running("1.1", 1, 1, "n3").running("2.1", 0, 0.1, "n3").
		want(cluster.VMRunning, 1, 2).fence("1.0", "n2").fence("2.0", "n1").pin("1.1").pin("2.1"),
}

func (s *scene) links(n *ctxswitch.Network) *scene {
	s.Network = n
	return s
}

func (s *scene) transfers(limit int) *scene {
	s.Transfers.Limit = limit
	return s
}

func (s *scene) busy(node cluster.NodeID, ends ...time.Duration) *scene {
	s.Transfers.Busy = map[cluster.NodeID][]time.Duration{node: ends}
	return s
}

func (s *scene) next(id string, cpus, gib float64) *scene {
	s.Next[vm(id)] = size(cpus, gib)
	return s
}

func (s *scene) pin(id string) *scene {
	s.Pinned[vm(id)] = true
	return s
}

// The plans of the thesis' figures, and those of cases that are decided on
// purpose.
func TestRepackerGolden(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			text := s.Current.String()
			for _, r := range s.Rules {
				text += r.Text + "\n"
			}
			plan, err := ctxswitch.Repacker{}.Plan(s.Problem)
			if _, none := errors.AsType[*ctxswitch.NoPlan](err); none {
				text += "--\n" + err.Error() + "\n"
			} else {
				if faults := ctxswitch.Check(s.Problem, plan); len(faults) > 0 {
					t.Error(strings.Join(faults, "\n"))
				}
				text += "--\n" + plan.String() + "--\n" + plan.Target.String()
			}
			compare(t, text)
		})
	}
}

func compare(t *testing.T, got string) {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	golden.Same(t, filepath.Join("testdata", name+".txt"), got)
}
