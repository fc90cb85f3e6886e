package scenarios_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/placement"
	"vjob/hypervisor"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/tests/simstore"
)

var errWords = errors.New("not understood; see the package comment")

// patience is the maximum time until a condition holds.
const patience = time.Hour

// act carries out one action.
func (s *scenario) act(w []string) error {
	switch {
	case w[0] == "run" && len(w) == 2:
		d, err := time.ParseDuration(w[1])
		if err != nil {
			return err
		}
		return s.until(s.shell.Now().Add(d))
	case w[0] == "at" && len(w) > 2:
		d, err := time.ParseDuration(strings.TrimSuffix(w[1], ":"))
		if err != nil {
			return err
		}
		if err := s.until(s.began.Add(d)); err != nil {
			return err
		}
		return s.act(w[2:])
	case w[0] == "until":
		return s.await(w[1:], patience)
	case w[0] == "within" && len(w) > 2:
		d, err := time.ParseDuration(strings.TrimSuffix(w[1], ":"))
		if err != nil {
			return err
		}
		s.log.say("expected: %s", told(w))
		return s.await(w[2:], d)
	case w[0] == "when":
		return s.when(w[1:])
	case w[0] == "expect":
		holds, got, err := s.holds(w[1:])
		if err == nil && !holds {
			err = fmt.Errorf("does not hold: %s", got)
		}
		s.log.say("expected: %s", told(w[1:]))
		return err
	}
	s.log.say("> %s", told(w))
	if w[0] == "refused" && len(w) > 1 {
		err := s.do(w[1:])
		if err == nil {
			return errors.New("it was not refused")
		}
		s.log.say("refused: %v", err)
		return nil
	}
	return s.do(w)
}

// told joins words as they were written.
func told(w []string) string {
	list := slices.Clone(w)
	for i := range list {
		if strings.HasPrefix(list[i], `"`) {
			list[i] += `"`
		}
	}
	return strings.Join(list, " ")
}

// when waits for a condition and acts at once.
func (s *scenario) when(w []string) error {
	end := slices.IndexFunc(w, func(word string) bool { return strings.HasSuffix(word, ":") })
	if end < 0 || end == len(w)-1 {
		return errors.New("want: when CONDITION: ACTION")
	}
	condition := slices.Clone(w[:end+1])
	condition[end] = strings.TrimSuffix(condition[end], ":")
	if err := s.await(condition, patience); err != nil {
		return err
	}
	return s.act(w[end+1:])
}

// await lets time pass until a condition holds.
func (s *scenario) await(condition []string, long time.Duration) error {
	for limit := s.shell.Now().Add(long); ; {
		holds, got, err := s.holds(condition)
		if holds || err != nil {
			return err
		}
		if !s.shell.Now().Before(limit) {
			return fmt.Errorf("does not hold within %s: %s", long, got)
		}
		if err := s.step(limit); err != nil {
			return err
		}
	}
}

func (s *scenario) until(to time.Time) error {
	for s.shell.Now().Before(to) {
		if err := s.step(to); err != nil {
			return err
		}
	}
	return nil
}

// step runs until the next event, and checks the invariants.
func (s *scenario) step(to time.Time) error {
	if _, err := s.shell.Step(to); err != nil {
		return err
	}
	s.check.Look()
	return s.broken()
}

// do executes an action of a user, an operator or a fault.
func (s *scenario) do(w []string) error {
	switch w[0] {
	case "submit":
		return s.submit(w[1:])
	case "crash":
		return s.crash(w[1:])
	case "fail", "lose":
		return s.spoilCommit(w)
	case "fault":
		return s.fault(w[1:])
	case "mend":
		return s.mend(w[1:])
	case "manually":
		return s.manually(w[1:])
	case "pools":
		return s.changePools(w[1:])
	}
	if len(w) != 2 {
		return errWords
	}
	states := map[string]cluster.NodeState{
		"online": cluster.Online, "drain": cluster.Draining, "off": cluster.Offline, "down": cluster.Down,
	}
	if state, ok := states[w[0]]; ok {
		return s.shell.SetNode(cluster.NodeID(w[1]), state, "op")
	}
	switch order := scheduler.Order(w[0]); order {
	case scheduler.OrderSuspend, scheduler.OrderResume, scheduler.OrderHold, scheduler.OrderRelease, scheduler.OrderRequeue, scheduler.OrderDelete:
		id, err := s.vjob(w[1])
		if err != nil {
			return err
		}
		return s.shell.Order(id, order, "ann")
	}
	return errWords
}

// changePools does "set NAME [parent=P] [reservation=2] [limit=4] [shares=high]", "delete NAME" or "move VJOB POOL".
func (s *scenario) changePools(w []string) error {
	switch {
	case len(w) >= 2 && w[0] == "set":
		set, err := settings(w[2:], "parent", "reservation", "limit", "shares")
		if err != nil {
			return err
		}
		p := pool.PoolStatement{Name: w[1], Parent: set["parent"]}
		p.CPU = pool.Stated{Reservation: set["reservation"], Limit: set["limit"], Shares: set["shares"]}
		return s.shell.SetPool(p, "op")
	case len(w) == 2 && w[0] == "delete":
		return s.shell.DeletePool(w[1], "op")
	case len(w) == 3 && w[0] == "move":
		id, err := s.vjob(w[1])
		if err != nil {
			return err
		}
		return s.shell.MoveVJob(scheduler.PoolMove{VJob: id, Pool: w[2], By: "op"})
	}
	return errWords
}

func (s *scenario) vjob(name string) (cluster.VJobID, error) {
	id, ok := s.jobs[name]
	if !ok {
		return 0, fmt.Errorf("%q: no vjob of that name was submitted", name)
	}
	return id, nil
}

// vm reads "a.1".
func (s *scenario) vm(text string) (cluster.VMID, error) {
	name, rank, _ := strings.Cut(text, ".")
	id, err := s.vjob(name)
	if err != nil {
		return cluster.VMID{}, err
	}
	n, err := parseCount(rank)
	return cluster.VMID{VJob: id, Rank: n}, err
}

func (s *scenario) submit(w []string) error {
	if len(w) == 0 {
		return errWords
	}
	set, err := settings(w[1:], "vms", "cpu", "mem", "work", "prio", "wall", "spread", "on", "hold", "key", "owner", "queue", "project", "deadline", "pool", "shares", "reservation", "limit")
	if err != nil {
		return err
	}
	sub, err := submission(w[0], set)
	if err != nil {
		return err
	}
	if in, told := set["deadline"]; told {
		after, err := time.ParseDuration(in)
		if err != nil {
			return err
		}
		sub.Deadline = s.shell.Now().Add(after)
	}
	job, err := s.shell.Submit(sub)
	if err != nil {
		return err
	}
	if s.log.names == nil {
		s.log.names = map[cluster.VJobID]string{}
	}
	if _, known := s.log.names[job.ID]; !known {
		s.jobs[w[0]], s.log.names[job.ID] = job.ID, w[0]
	}
	return nil
}

func submission(name string, set map[string]string) (sub admission.Submission, err error) {
	for key, value := range map[string]string{"vms": "1", "cpu": "1", "mem": "512MiB", "work": "1h", "prio": "0", "wall": "0s", "owner": "ann"} {
		if _, told := set[key]; !told {
			set[key] = value
		}
	}
	need, err1 := parseResources(set["cpu"]+"cpu", set["mem"])
	n, err2 := parseCount(set["vms"])
	prio, err3 := parseCount(set["prio"])
	wall, err4 := time.ParseDuration(set["wall"])
	steps, err5 := parseWork(set["work"], need.CPU)
	sub = admission.Submission{
		Owner: set["owner"], Name: name, Key: set["key"], Priority: prio, Walltime: wall, Held: set["hold"] == "yes",
	}
	sub.Queue, sub.Project, sub.Pool, sub.Shares = set["queue"], set["project"], set["pool"], set["shares"]
	for key, to := range map[string]*cluster.MilliCPU{"reservation": &sub.CPUReservation, "limit": &sub.CPULimit} {
		if text, told := set[key]; told {
			var bad error
			if *to, bad = cluster.ParseCPU(text); bad != nil {
				return sub, bad
			}
		}
	}
	for range n {
		sub.VMs = append(sub.VMs, cluster.VM{Reserved: need, Payload: &cluster.Payload{
			Image: "simulated", Program: &cluster.Program{Steps: steps},
		}})
	}
	if set["spread"] == "yes" {
		sub.Rules += "continuous spread($VMS);"
	}
	if on, told := set["on"]; told {
		sub.Rules += "continuous fence($VMS, " + placement.Set(strings.Split(on, "+")) + ");"
	}
	return sub, errors.Join(err1, err2, err3, err4, err5)
}

// crash kills the scheduler, now or at a later call.
func (s *scenario) crash(w []string) error {
	if len(w) == 0 {
		s.log.say("!! the scheduler is killed")
		s.shell.Kill()
		return nil
	}
	if len(w) < 2 || len(w) > 3 || w[0] != "before" && w[0] != "after" {
		return errWords
	}
	if _, err := parseVerb(w[1]); err != nil && w[1] != "commit" {
		return err
	}
	n := 1
	if len(w) == 3 {
		var err error
		if n, err = parseCount(strings.TrimPrefix(w[2], "#")); err != nil {
			return err
		}
	}
	s.deaths = append(s.deaths, death{w[0] + " " + w[1], n})
	return nil
}

// spoilCommit reads "fail commit of VJOB PHASE".
func (s *scenario) spoilCommit(w []string) error {
	if len(w) != 5 || w[1] != "commit" || w[2] != "of" {
		return errWords
	}
	id, err := s.vjob(w[3])
	if err != nil {
		return err
	}
	c := spoiled{vjob: id, err: errors.New("database or disk is full")}
	if w[0] == "lose" {
		c.err = simstore.ErrWritten
	}
	if err := c.phase.UnmarshalText([]byte(w[4])); err != nil {
		return err
	}
	s.commits = append(s.commits, c)
	return nil
}

// manually makes a call to a node past the scheduler, as an administrator does by hand.
func (s *scenario) manually(w []string) error {
	if len(w) != 4 || w[2] != "on" {
		return errWords
	}
	verb, err := parseVerb(w[0])
	if err != nil {
		return err
	}
	vm, err := s.vm(w[1])
	if err != nil {
		return err
	}
	s.manual++
	call := hypervisor.Call{Op: s.manual, Verb: verb, VM: vm, Node: cluster.NodeID(w[3]), Attempt: 1 << 20}
	if verb == hypervisor.Restore {
		image := s.image(vm)
		if image == nil {
			return fmt.Errorf("%s has no image", w[1])
		}
		call.Image, call.Checksum = image.ID, image.Checksum
	}
	s.cluster.Begin(s.shell.Now(), call)
	return nil
}

// image returns the image that the record of a gang names.
func (s *scenario) image(vm cluster.VMID) *gang.Image {
	if rec := s.gangs[vm.VJob]; vm.Rank < len(rec.Members) {
		return rec.Members[vm.Rank].Image
	}
	return nil
}
