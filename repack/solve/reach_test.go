package solve_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vjob/repack"
)

// reach looks at every configuration to which actions lead, one after the other and
// as many as it takes. Rules on time are not for it.
type reach struct {
	in   *repack.Instance // amended, and nothing takes any time
	seen map[string]bool
	todo [][]repack.Action
}

// mostReached bounds how many configurations are looked at.
const mostReached = 4000

// onTime are the rules that look at more than what is where.
var onTime = []string{"deadline", "noDelay", "precedence", "seq", "serialize", "sync", "syncEnd", "maxOnline"}

// timeless reports whether reach can judge the problem.
func timeless(in *repack.Instance) bool {
	return len(in.Gangs) == 0 && in.Network == nil && !slices.ContainsFunc(in.Rules, func(r repack.Posted) bool {
		name, _, _ := strings.Cut(r.String(), "(")
		return r.Penalty == 0 && slices.Contains(onTime, name)
	})
}

// reachable looks for a plan with any number of actions. Not done: there were too
// many configurations.
func reachable(in *repack.Instance) (p *repack.Plan, done bool) {
	in, err := in.Amended()
	if err != nil {
		return nil, true
	}
	r := &reach{in: instant(in), seen: map[string]bool{}}
	var first []repack.Action
	for n := range in.Nodes {
		if in.Nodes[n].State == repack.Offline && in.Nodes[n].Want != repack.Offline {
			first = append(first, repack.Action{Kind: repack.NodeOn, VM: repack.Nowhere, From: repack.Nowhere, To: n})
		}
	}
	r.add(first)
	for i := 0; i < len(r.todo); i++ {
		if p := r.ended(r.todo[i]); p != nil {
			return p, true
		}
		if i == mostReached {
			return nil, false
		}
		r.expand(r.todo[i])
	}
	return nil, true
}

// instant is the problem with actions that take no time.
func instant(in *repack.Instance) *repack.Instance {
	out := *in
	out.VMs = slices.Clone(in.VMs)
	for vm := range out.VMs {
		out.VMs[vm].Takes = repack.Durations{}
	}
	out.NodeOff, out.NodeOn = 0, 0
	return &out
}

// add notes a configuration that is new.
func (r *reach) add(list []repack.Action) {
	t, _ := repack.Trace(r.in, &repack.Plan{Actions: list})
	var b strings.Builder
	for vm := range t.State {
		fmt.Fprint(&b, t.State[vm], t.Host[vm], len(t.ByVM[vm]) > 0, changed(list, vm), " ")
	}
	if !r.seen[b.String()] {
		r.seen[b.String()] = true
		r.todo = append(r.todo, list)
	}
}

// expand adds what one action more leads to, in a tick of its own.
func (r *reach) expand(list []repack.Action) {
	t, _ := repack.Trace(r.in, &repack.Plan{Actions: list})
	clock := repack.Ticks(2 * len(list))
	for vm := range r.in.VMs {
		v := &r.in.VMs[vm]
		if changed(list, vm) {
			continue // it stays where it is
		}
		try := func(k repack.Kind, to int) {
			a := repack.Action{Kind: k, VM: vm, From: t.Host[vm], To: to, Start: clock, End: clock + 1}
			if k == repack.Allocate {
				a.From, a.End = repack.Nowhere, clock
			}
			more := append(slices.Clone(list), a)
			if r.right(more) {
				r.add(more)
			}
		}
		anywhere := func(k repack.Kind) {
			for n := range r.in.Nodes {
				if k != repack.Migrate || n != t.Host[vm] {
					try(k, n)
				}
			}
		}
		switch {
		case v.Stays && !v.Keeps() || t.State[vm] == v.Want && v.Want != repack.Running:
		case t.State[vm] == repack.Ready && v.Want == repack.Running:
			anywhere(repack.Boot)
		case t.State[vm] == repack.Sleeping && v.Want == repack.Running:
			anywhere(repack.Resume)
		case t.State[vm] != repack.Running:
		case v.Want == repack.Sleeping:
			try(repack.Suspend, repack.Nowhere)
		case v.Want != repack.Running:
			try(repack.Shutdown, repack.Nowhere)
		default:
			if !v.Stays {
				anywhere(repack.Migrate)
			}
			if v.Sleepable && !v.Stays && !rooted(r.in, vm) {
				try(repack.Suspend, repack.Nowhere)
			}
			if v.Keeps() && !v.Steady() && len(t.ByVM[vm]) == 0 {
				try(repack.Allocate, v.Host)
			}
		}
	}
}

// right reports whether a beginning has no faults of its own: the same without wishes, if all
// VMs stop at the end except those that have changed where they are and will stay there.
// Faults of that end do not count.
func (r *reach) right(list []repack.Action) bool {
	free := *r.in
	free.VMs, free.Nodes = slices.Clone(free.VMs), slices.Clone(free.Nodes)
	t, _ := repack.Trace(&free, &repack.Plan{Actions: list})
	end := repack.Ticks(2*len(list) + 2)
	whole := slices.Clone(list)
	for vm := range free.VMs {
		v := &free.VMs[vm]
		v.Stays, v.Want = false, t.State[vm]
		if v.Want == repack.Running && !changed(list, vm) {
			v.Want = repack.Killed
			whole = append(whole, repack.Action{Kind: repack.Shutdown, VM: vm, From: t.Host[vm], To: repack.Nowhere, Start: end, End: end})
		}
	}
	for n := range free.Nodes {
		free.Nodes[n].Want = repack.AnyState
	}
	free.Rules = slices.DeleteFunc(slices.Clone(free.Rules), func(p repack.Posted) bool {
		_, amends := p.Rule.(repack.Amender)
		return amends || p.Penalty > 0
	})
	report, err := repack.Check(&free, &repack.Plan{Actions: whole})
	return err == nil && !slices.ContainsFunc(report.Faults, func(text string) bool {
		return !slices.ContainsFunc(free.Rules, func(p repack.Posted) bool { return strings.HasPrefix(text, p.String()+": ") }) || passing.MatchString(text)
	})
}

// passing are breaches of rules at an instant, not of the final configuration.
var passing = regexp.MustCompile(` at \d+$`)

// changed reports whether the VM has its next demand where it is.
func changed(list []repack.Action, vm int) bool {
	return slices.ContainsFunc(list, func(a repack.Action) bool { return a.VM == vm && a.Kind == repack.Allocate })
}

// ended is the plan if a configuration is what is wanted once nodes have gone off.
func (r *reach) ended(list []repack.Action) *repack.Plan {
	clock := repack.Ticks(2 * len(list))
	list = slices.Clone(list)
	for n := range r.in.Nodes {
		if r.in.Nodes[n].State == repack.Online && r.in.Nodes[n].Want == repack.Offline {
			list = append(list, repack.Action{Kind: repack.NodeOff, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: clock, End: clock})
		}
	}
	p := &repack.Plan{Actions: list}
	if report, err := repack.Check(r.in, p); err != nil || !report.Valid() {
		return nil
	}
	return p
}
