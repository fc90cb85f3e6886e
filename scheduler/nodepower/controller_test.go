package nodepower_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/scheduler/nodepower"
)

// rack is a board over the nodes a and b and what the test makes of them.
type rack struct {
	t     *testing.T
	board *nodepower.Controller
	out   journal.Step
	now   time.Time
	poor  bool // there is no power for a node to come on

	holding string        // what keeps nodes from going off
	silent  bool          // no node answers
	rests   time.Duration // of the node of which the executor was told last
}

func (r *rack) Answers(cluster.NodeID) (answers bool, since time.Time) { return !r.silent, start }
func (r *rack) InUse(cluster.NodeID) string                            { return r.holding }
func (*rack) Hint(time.Time, cluster.NodeID)                           {}
func (r *rack) Set(_ time.Time, _ cluster.NodeID, every time.Duration, _ energy.Watts) {
	r.rests = every
}

func newRack(t *testing.T, records ...cycle.Record) *rack {
	t.Helper()
	r := &rack{t: t, now: start}
	models := map[cluster.NodeID]energy.Power{"a": {Idle: 100}}
	set := nodepower.ControllerSettings{Nodes: []cluster.NodeID{"a", "b"}, Limits: cycle.DefaultLimits}
	r.board = nodepower.NewController(&set, models, records, r, &r.out, start)
	return r
}

// step lets time pass and returns what is asked of the drivers: "a:off".
func (r *rack) step(after time.Duration) string {
	r.now = r.now.Add(after)
	r.board.Step(r.now, func(cluster.NodeID) bool { return !r.poor })
	var asks []string
	for _, ask := range r.board.Fetch() {
		asks = append(asks, fmt.Sprintf("%s:%s", ask.Node, ask.Verb))
	}
	return strings.Join(asks, " ")
}

func (r *rack) phase(want cycle.Phase) {
	r.t.Helper()
	if got := r.board.Switch("a").Phase; got != want {
		r.t.Errorf("the node is %s, want %s", got, want)
	}
}

func (r *rack) order(want cycle.Want) {
	r.t.Helper()
	if err := r.board.Order(r.now, &cluster.Node{ID: "a"}, r.silent, want, "op"); err != nil {
		r.t.Fatal(err)
	}
}

// A node goes off once nothing is on it, is not in use until it is on again, and each
// record is there to be committed before its driver is asked.
func TestOffAndOn(t *testing.T) {
	r := newRack(t)
	r.holding = "a VM is there"
	r.order(cycle.WantOff)
	if asks := r.step(0); asks != "" {
		t.Errorf("a node that holds a VM is asked to go %s", asks)
	}
	r.phase(cycle.Emptying)
	if problem := r.board.Switch("a").Problem; problem != "a VM is there" {
		t.Errorf("people read %q", problem)
	}
	r.holding = ""
	records := len(r.out.Power)
	if asks := r.step(time.Second); asks != "a:off" || len(r.out.Power) == records || r.rests == 0 {
		t.Errorf("asked %q, %d records, looked at every %s", asks, len(r.out.Power)-records, r.rests)
	}
	r.phase(cycle.Stopping)
	if state := r.board.State("a", cluster.Online); state == cluster.Online {
		t.Error("a node on its way off takes VMs")
	}
}

// A node waits for the power that it draws while it comes on.
func TestNoPower(t *testing.T) {
	r := newRack(t, cycle.Record{Node: "a", Phase: cycle.Off, Want: cycle.WantOff, Since: start})
	r.silent, r.poor = true, true
	r.order(cycle.WantOn)
	if awaited := r.board.Awaited(); len(awaited) != 1 || r.board.Booting("a") != 100 {
		t.Errorf("%v are awaited, and take %s", awaited, r.board.Booting("a"))
	}
	r.step(time.Second)
	r.phase(cycle.Off)
	if wake := r.board.Wake(); !wake.After(r.now) {
		t.Error("it is never tried again")
	}
	r.poor = false
	r.step(30 * time.Second)
	r.phase(cycle.Starting)
	if least := r.board.Draws()["a"]; least != 100 {
		t.Errorf("it draws at least %s, want 100 W", least)
	}
}

// What an operator decrees ends what power management wants, and nothing else.
func TestDecreed(t *testing.T) {
	for _, c := range []struct {
		name string
		off  func(r *rack)
		want cycle.Want
	}{
		{"power management's wish", func(r *rack) { r.board.Wish(r.now, "a", cycle.WantOff, "it is empty") }, cycle.WantOn},
		{"a person's order", func(r *rack) { r.order(cycle.WantOff) }, cycle.WantOff},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRack(t)
			r.holding = "a VM is there"
			c.off(r)
			r.step(0)
			r.phase(cycle.Emptying)
			r.board.NodeStateSet(r.now, "a", cluster.Draining)
			if got := r.board.Switch("a").Want; got != c.want {
				t.Errorf("it is wanted %s, want %s", got, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	r := newRack(t)
	for _, c := range []struct {
		name   string
		node   cluster.Node
		silent bool
		why    string
	}{
		{"unknown to the board", cluster.Node{ID: "c"}, false, "cannot be switched"},
		{"down", cluster.Node{ID: "a", State: cluster.Down}, false, "set it online first"},
		{"silent", cluster.Node{ID: "a"}, true, "it is unknown what it holds"},
	} {
		err := r.board.Order(start, &c.node, c.silent, cycle.WantOff, "op")
		if !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.name, err, c.why)
		}
	}
	if len(r.out.Power) > 0 || len(r.out.Events) > 0 {
		t.Errorf("a refusal leaves %+v", r.out)
	}
}

// An answer to what was asked before the journal was loaded anew counts for nothing.
func TestLateAnswer(t *testing.T) {
	r := newRack(t)
	r.order(cycle.WantOff)
	r.step(0)
	r.board.Answered(r.now, power.Request{Node: "a", Verb: power.TurnOff, At: start.Add(-time.Hour)}, power.Unknown, errors.New("lost"))
	if problem := r.board.Switch("a").Problem; problem != "" {
		t.Errorf("it is taken for the answer: %q", problem)
	}
	r.board.Answered(r.now, power.Request{Node: "a", Verb: power.TurnOff, At: r.now}, power.Unknown, errors.New("lost"))
	if problem := r.board.Switch("a").Problem; !strings.Contains(problem, "lost") {
		t.Errorf("the answer is forgotten: %q", problem)
	}
}
