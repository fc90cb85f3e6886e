package scenarios_test

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
)

// holds evaluates a condition; got is what holds instead.
func (s *scenario) holds(w []string) (holds bool, got string, err error) {
	if len(w) < 2 {
		return false, "", errWords
	}
	switch w[0] {
	case "no":
		holds, got, err = s.holds(w[1:])
		return !holds, "there is: " + got, err
	case "event", "alarm":
		return s.eventHolds(w)
	case "calls":
		return s.callsHold(w[1:])
	case "vjobs":
		got := fmt.Sprint(len(s.store.VJobs()))
		return got == w[1], got, nil
	case "plan":
		return s.planHolds(w[1:])
	}
	if id, ok := s.jobs[w[0]]; ok {
		return s.vjobHolds(id, w[1:])
	}
	if strings.Contains(w[0], ".") {
		vm, err := s.vm(w[0])
		if err != nil {
			return false, "", err
		}
		return s.vmHolds(vm, w[1:])
	}
	return s.nodeHolds(cluster.NodeID(w[0]), w[1:])
}

func (s *scenario) eventHolds(w []string) (bool, string, error) {
	text, err := quoted(w[1])
	if err != nil || len(w) != 2 {
		return false, "", errWords
	}
	for _, e := range s.events {
		if line := s.log.named(e.TextFor("")); strings.Contains(line, text) && (w[0] == "event" || e.Kind == journal.EventAlarm) {
			return true, line, nil
		}
	}
	return false, "no such " + w[0], nil
}

// callsHold evaluates "VERB [of VJOB|VM] N".
func (s *scenario) callsHold(w []string) (bool, string, error) {
	verb, err := parseVerb(w[0])
	if err != nil || len(w) != 2 && (len(w) != 4 || w[1] != "of") {
		return false, "", errWords
	}
	n := 0
	for _, c := range s.calls {
		vm := s.log.named(c.VM.String())
		if c.Verb == verb && (len(w) == 2 || vm == w[2] || strings.HasPrefix(vm, w[2]+".")) {
			n++
		}
	}
	return fmt.Sprint(n) == w[len(w)-1], fmt.Sprint(n), nil
}

func (s *scenario) planHolds(w []string) (bool, string, error) {
	n, err := parseCount(w[0])
	if err != nil || len(w) != 3 || w[1] != "is" {
		return false, "", errWords
	}
	state := s.plans[journal.PlanID(n)]
	return string(state) == w[2], string(state), nil
}

func (s *scenario) vjobHolds(id cluster.VJobID, w []string) (bool, string, error) {
	rec, kept := s.gangs[id], s.states[id]
	switch {
	case w[0] == "is" && len(w) == 2:
		var phase gang.Phase
		if phase.UnmarshalText([]byte(w[1])) == nil {
			return rec.Phase == phase, rec.Phase.String(), nil
		}
		if w[1] == "held" {
			return kept.Held, "not held", nil
		}
		state, err := cluster.ParseState(w[1])
		return kept.State == state, kept.State.String(), err
	case w[0] == "runs" && len(w) == 3 && w[1] == "on":
		at := s.runsOn(id)
		return at == w[2], at, nil
	case w[0] == "says" && len(w) == 2:
		text, err := quoted(w[1])
		says := s.log.named(s.reason(id))
		return strings.Contains(says, text), says, err
	case w[0] == "has" && len(w) == 3:
		n, err := s.count(id, w[2])
		return fmt.Sprint(n) == w[1], fmt.Sprint(n), err
	}
	return false, "", errWords
}

// runsOn returns the nodes on which members of a vjob really run, in rank order.
func (s *scenario) runsOn(id cluster.VJobID) string {
	var list []string
	for _, c := range s.cluster.Truth().Copies {
		if c.VM.VJob == id && c.State == hypervisor.CopyRunning {
			list = append(list, string(c.Node))
		}
	}
	return strings.Join(list, ",")
}

// reason returns the reason that the owner of a vjob sees.
func (s *scenario) reason(id cluster.VJobID) string {
	if snapshot := s.shell.Snapshot(); snapshot != nil {
		if status, live := snapshot.VJobs.Get(id); live {
			return status.Reason
		}
	}
	return s.states[id].Cause.String()
}

func (s *scenario) count(id cluster.VJobID, what string) (n int, err error) {
	truth := s.cluster.Truth()
	switch what {
	case "copies":
		for _, c := range truth.Copies {
			if c.VM.VJob == id {
				n++
			}
		}
	case "images":
		for _, i := range truth.Images {
			if i.ID.VM.VJob == id {
				n++
			}
		}
	case "losses":
		n = s.gangs[id].Losses
	default:
		err = errWords
	}
	return n, err
}

func (s *scenario) vmHolds(vm cluster.VMID, w []string) (bool, string, error) {
	if len(w) != 2 {
		return false, "", errWords
	}
	var copies []simulated.TrueCopy
	for _, c := range s.cluster.Truth().Copies {
		if c.VM == vm {
			copies = append(copies, c)
		}
	}
	switch w[0] {
	case "is":
		return vmIs(copies, w[1])
	case "cap":
		for _, c := range copies {
			return c.Cap.String() == w[1], c.Cap.String(), nil
		}
		return false, "gone", nil
	case "ran":
		least, err := time.ParseDuration(w[1])
		for _, c := range copies {
			return c.Ran >= least, c.Ran.String(), err
		}
		return false, "gone", err
	}
	return false, "", errWords
}

func vmIs(copies []simulated.TrueCopy, word string) (bool, string, error) {
	got := "gone"
	for _, c := range copies {
		got = c.State.String()
		if c.Job != hypervisor.JobNone {
			got += " " + c.Job.String()
		}
		if c.State.String() == word && c.Job == hypervisor.JobNone || c.Job.String() == word {
			return true, got, nil
		}
	}
	switch word {
	case "gone":
		return len(copies) == 0, got, nil
	case "running", "paused", "dead", "saving", "restoring", "outgoing":
		return false, got, nil
	}
	return false, "", errWords
}

func (s *scenario) nodeHolds(id cluster.NodeID, w []string) (bool, string, error) {
	if len(w) != 2 {
		return false, "", errWords
	}
	if w[0] == "holds" {
		n := 0
		for _, c := range s.cluster.Truth().Copies {
			if c.Node == id {
				n++
			}
		}
		return fmt.Sprint(n) == w[1], fmt.Sprint(n), nil
	}
	snapshot := s.shell.Snapshot()
	if snapshot == nil {
		return false, "the scheduler is down", nil
	}
	for _, n := range snapshot.Nodes {
		if n.ID == id && w[0] == "is" {
			return nodeIs(n, w[1])
		}
	}
	return false, "", fmt.Errorf("%q: neither a vjob nor a node", id)
}

func nodeIs(n *scheduler.NodeStatus, word string) (bool, string, error) {
	switch word {
	case "silent":
		return n.Silent, "heard", nil
	case "heard":
		return !n.Silent, "silent", nil
	}
	state, err := cluster.ParseNodeState(word)
	return n.State == state, n.State.String(), err
}
