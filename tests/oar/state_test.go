package oar_test

import (
	"testing"
)

// skippedStates are the state changes of OAR's tests that do not apply, with the reason.
var skippedStates = map[string]string{
	"st02": "differs: what a command exits with is shown, and nothing is submitted again for it",
	"st04": noPrologue, "st07": noPrologue, "st08": noPrologue,
	"st05": "differs: a job that waits is deleted at once, and not by a module that comes by later",
	"st10": "differs: no script of a site runs when a job is suspended; a suspension that fails is judged in ctxswitch/gang",
	"st11": "judged in ctxswitch/gang and tests/sim: when a member cannot be saved all go on, and the job was Running all the time",
	"st14": "judged by TestStateLog",
	"st16": "differs: a job of type noop has VMs as any other, which are lost with their node",
	"st17": noTimer, "st23": noTimer, "st25": noTimer,
	"st22": "differs: there are no checkpoints: a preempted job is suspended with its memory",
	"st26": "differs: that a node is dead has to be made sure of by a person or by its power driver",
}

const (
	noPrologue = "differs: no prologue and no epilogue of a site runs; a VM that does not boot is tried again, and then elsewhere"
	noTimer    = "differs: there is no timer for those that are killed: what is left of them is cleared until nothing is seen of it"
)

// The state changes of OAR's tests that apply happen here.
func TestStates(t *testing.T) {
	x := open(t)
	lived := map[string]func(){
		"st01": func() { // a waiting job that is deleted is in Error
			id := x.sub("alice", "--hold", "-l", "nodes=16", "sleep 1000000")
			x.run("alice", "oardel", id)
			x.until(id, "Error")
		},
		"st13": func() { // a job that is held while it resumes is suspended
			id := x.sub("alice", "-l", "core=1", "sleep 1000000")
			x.until(id, "Running")
			for _, line := range [][]string{{"oarhold", "-r"}, {"oarresume"}, {"oarhold", "-r"}} {
				if line[0] == "oarresume" {
					x.until(id, "Suspended")
				}
				if r := x.run("root", line[0], append(line[1:], id)...); r.code != 0 {
					x.tb.Fatal(line, r)
				}
			}
			x.until(id, "Suspended")
		},
		"st19": func() { // an ended job stays ended
			id := x.sub("alice", "-l", "core=1", "sleep 1")
			x.until(id, "Terminated")
			if r := x.run("alice", "oardel", id); r.code != 6 {
				x.tb.Error(r)
			}
			x.until(id, "Terminated")
		},
		"st20": func() { // a running noop job that is deleted is not in Error
			id := x.sub("alice", "-l", "core=1", "-t", "noop")
			x.until(id, "Running")
			x.run("alice", "oardel", id)
			x.until(id, "Terminated")
		},
	}
	for _, c := range load(t).Machine {
		live, ok := lived[c.ID]
		if _, why := skippedStates[c.ID]; why == ok {
			t.Errorf("%s is neither lived through nor has a reason, or both", c.ID)
		}
		if ok {
			t.Run(c.ID, func(t *testing.T) {
				x.tb = t
				live()
			})
		}
	}
}
