package format

import (
	"fmt"
	"io"
	"slices"

	"vjob/repack"
)

// PlanFile is what a plan file holds.
type PlanFile struct {
	Instance string // the name of the instance that it is for
	Solver   string
	Plan     *repack.Plan
}

// ReadPlan reads a plan for an instance. A plan that makes no sense for it is no
// error: [repack.Check] tells. All errors are of type [*Error].
func ReadPlan(in io.Reader, file string, of *repack.Instance) (*PlanFile, error) {
	p := &planReader{reader: open(in), of: of, plan: PlanFile{Plan: &repack.Plan{}}}
	begins := p.place()
	keys := p.object(func(key string) {
		switch key {
		case "format":
			p.format(PlanFormat)
		case "instance":
			p.plan.Instance = p.string("the name of an instance")
		case "solver":
			p.plan.Solver = p.string("a name")
		case "actions":
			p.list(p.action)
		default:
			if !informative[key] && !slices.Contains([]string{"name", "objective", "makespan"}, key) {
				p.unknown(key, "format, instance, solver, actions, name, objective, makespan, seed, note")
				return
			}
			p.skip()
		}
	})
	p.need(begins, keys, "format", "actions")
	p.finish()
	p.complete()
	if err := p.result(file); err != nil {
		return nil, err
	}
	return &p.plan, nil
}

type planReader struct {
	*reader
	of      *repack.Instance
	plan    PlanFile
	resumes []int // those that do not say where the image lies
}

// action reads one action.
func (p *planReader) action(i int) {
	begins := p.place()
	if i == 4*maxElements {
		p.fail("more than four million actions")
		return
	}
	a := repack.Action{VM: repack.Nowhere, From: repack.Nowhere, To: repack.Nowhere}
	node := repack.Nowhere
	keys := p.object(func(key string) {
		switch key {
		case "type":
			a.Kind = repack.Kind(p.word(repack.Kinds[:]...))
		case "vm":
			a.VM = p.index()
		case "node":
			node = p.index()
		case "from":
			a.From = p.index()
		case "to":
			a.To = p.index()
		case "start":
			a.Start = p.instant()
		case "end":
			a.End = p.instant()
		case "rate":
			a.Rate = p.integer(0, maxQuantity, "")
		case "after":
			a.After = p.indexes()
		default:
			p.other(key)
		}
	})
	p.need(begins, keys, "type", "start", "end")
	p.shape(i, &a, node, begins, keys)
	p.plan.Plan.Actions = append(p.plan.Plan.Actions, a)
}

// index reads the id of a VM or of a node, or null. Whether there is one of that
// id is not the reader's business.
func (p *planReader) index() int {
	if p.peek() == 'n' {
		p.skip()
		return repack.Nowhere
	}
	return int(p.integer(0, 1<<40, "an id"))
}

// instant reads a time. A negative one is a fault of the plan.
func (p *planReader) instant() repack.Ticks {
	return repack.Ticks(p.integer(-maxEnd, maxEnd, ""))
}

// other takes the amounts that an allocate tells: they are the VM's next demand,
// which the instance has.
func (p *planReader) other(key string) {
	if !slices.Contains(p.of.Dims, key) {
		p.unknown(key, "type, vm, node, from, to, start, end, rate, after, and resources")
		return
	}
	p.integer(0, maxQuantity, "")
}

// shape checks that an action names its VM or node.
func (p *planReader) shape(i int, a *repack.Action, node int, begins Place, keys []string) {
	switch {
	case a.Kind.OnNode():
		p.need(begins, keys, "node")
		a.To = node
	case a.Kind == repack.Allocate:
		p.need(begins, keys, "vm")
		a.To = node
	default:
		p.need(begins, keys, "vm")
	}
	stray := slices.Contains(keys, "node") && !a.Kind.OnNode() && a.Kind != repack.Allocate
	if stray {
		p.wrongAt(begins, p.where(), "the key \"node\"", fmt.Sprintf("from or to, for %s", a.Kind))
	}
	if a.Kind == repack.Suspend && a.To != repack.Nowhere && a.To != a.From {
		p.wrongAt(begins, p.where()+".to", itoa(int64(a.To)), "nothing: an image lies where the VM ran")
	}
	if a.Kind == repack.Resume && !slices.Contains(keys, "from") {
		p.resumes = append(p.resumes, i)
	}
}

// complete finds where the images lie that are resumed, and checks that no sum
// overflows.
func (p *planReader) complete() {
	if p.err != nil {
		return
	}
	if len(p.resumes) > 0 {
		p.findImages()
	}
	longest, weights := float64(0), float64(0)
	for i := range p.plan.Plan.Actions {
		a := &p.plan.Plan.Actions[i]
		longest = max(longest, float64(a.End))
		if a.VM >= 0 && a.VM < len(p.of.VMs) {
			weights += float64(p.of.VMs[a.VM].Weight)
		}
	}
	if longest*max(1, weights) > maxTotal {
		p.err = &Error{Path: "actions", Text: "so long that the objective overflows"}
	}
}

// findImages gives resumes that do not say from where the place where the VM was
// suspended last, or where its image lies at first.
func (p *planReader) findImages() {
	actions := p.plan.Plan.Actions
	suspends := map[int][]int{}
	for i := range actions {
		if actions[i].Kind == repack.Suspend {
			suspends[actions[i].VM] = append(suspends[actions[i].VM], i)
		}
	}
	for _, i := range p.resumes {
		a := &actions[i]
		if a.VM < 0 || a.VM >= len(p.of.VMs) {
			continue
		}
		a.From = p.of.VMs[a.VM].Host
		last := repack.Ticks(-1)
		for _, k := range suspends[a.VM] {
			if s := &actions[k]; s.End <= a.Start && s.End > last {
				a.From, last = s.From, s.End
			}
		}
	}
}
