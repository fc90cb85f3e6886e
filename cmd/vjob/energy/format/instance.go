package format

import (
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"vjob/energy"
	"vjob/repack/format"
)

const (
	version = "easched/1"
	memory  = "mem"
)

// Instance is a problem, and what the file knows of its solutions.
type Instance struct {
	*energy.Problem
	Reference *Reference // nil: nothing
}

// Reference are bounds and the best allocation that others have found. What is not
// known is nil.
type Reference struct {
	LPBound *float64 `json:"lpbound"`
	LBH     *float64 `json:"lbh"`
	CGBound *float64 `json:"cgbound"`
	Best    *struct {
		Value *float64 `json:"value"`
	} `json:"best"`
	MILP *struct {
		Status string   `json:"status"`
		Value  *float64 `json:"value"`
	} `json:"milp"`
	Paper map[string]*float64 `json:"paper"`
}

// ReadInstances reads an instances file; name is what it is called in errors, which are
// of type *[format.Error].
func ReadInstances(in io.Reader, name string) ([]*Instance, error) {
	f, top, err := read(in, name)
	if err != nil {
		return nil, err
	}
	r := &reader{file: f}
	fields := r.fields(top, []string{"format", "instances"}, []string{"set"})
	if is := fields["format"]; r.err == nil && is.text() != version {
		r.fail(f.wrong(is, `"`+version+`"`))
	}
	items := r.list(fields["instances"], "a list of instances")
	if r.err == nil && len(items) == 0 {
		r.fail(f.wrong(fields["instances"], "at least one instance"))
	}
	list, seen := make([]*Instance, 0, len(items)), map[string]string{}
	for _, item := range items {
		instance := r.instance(item)
		if r.err != nil {
			break
		}
		if other, double := seen[instance.ID]; double {
			r.fail(f.fault(item.from, item.path, fmt.Sprintf("id %q is taken by %s", instance.ID, other)))
		}
		seen[instance.ID] = item.path
		list = append(list, instance)
	}
	if r.err != nil {
		return nil, r.err
	}
	return list, nil
}

// goals are the keys that go with each objective.
var goals = map[energy.Objective][]string{
	energy.BoundedYield: {"ybound"}, energy.BoundedPower: {"ebound"}, energy.Mixed: {"lambda", "emax"},
}

func (r *reader) instance(v value) *Instance {
	p := &energy.Problem{Resources: []string{memory}}
	is := 0
	if v.Kind() == '{' {
		_, all := v.members()
		problem, there := all["problem"]
		if is = slices.Index(energy.Objectives[:], problem.text()); there && is < 0 {
			r.fail(r.wrong(problem, `"boundedyield", "boundedpower" or "mixed"`))
		}
	}
	p.Objective = energy.Objective(max(is, 0))
	need := append([]string{"id", "problem", "hosts", "jobs"}, goals[p.Objective]...)
	fields := r.fields(v, need, []string{"ymin", "resources", "reference"})
	if r.err != nil {
		return nil
	}
	p.ID = r.text(fields["id"], "a name")
	for _, name := range r.optional(fields, "resources") {
		p.Resources = append(p.Resources, r.resource(name, p.Resources))
	}
	for _, host := range r.some(fields["hosts"], "a host") {
		p.Nodes = append(p.Nodes, r.host(host, p.Resources))
	}
	for _, job := range r.some(fields["jobs"], "a job") {
		p.Jobs = append(p.Jobs, r.job(job, p.Resources))
	}
	r.goal(fields, p)
	instance := &Instance{Problem: p}
	if ref, there := fields["reference"]; there && r.err == nil && ref.Kind() != 'n' {
		if err := json.Unmarshal(ref.Value, &instance.Reference); err != nil {
			r.fail(r.fault(ref.from, ref.path, "bounds and values of others that cannot be read: "+err.Error()))
		}
	}
	if r.err != nil {
		return nil
	}
	if err := p.Validate(); err != nil {
		r.fail(r.fault(v.from, v.path, err.Error()))
	}
	return instance
}

// optional is a list that need not be there.
func (r *reader) optional(fields object, key string) []value {
	v, there := fields[key]
	if !there {
		return nil
	}
	return r.list(v, "a list")
}

func (r *reader) some(v value, of string) []value {
	list := r.list(v, "a list")
	if len(list) == 0 && r.err == nil {
		r.fail(r.wrong(v, "at least "+of))
	}
	return list
}

func (r *reader) resource(v value, known []string) string {
	name := r.text(v, "the name of a resource")
	if taken := append([]string{"cpu", "cmin", "cmax", "coff", "points"}, known...); slices.Contains(taken, name) {
		r.fail(r.wrong(v, "a name that means nothing else yet"))
	}
	return name
}

func (r *reader) amounts(fields object, resources []string) []float64 {
	list := make([]float64, len(resources))
	for i, name := range resources {
		list[i] = r.amount(fields[name], "an amount")
	}
	return list
}

func (r *reader) host(v value, resources []string) (n energy.Node) {
	fields := r.fields(v, append([]string{"cpu", "cmin", "cmax"}, resources...), []string{"coff", "points"})
	if r.err != nil {
		return n
	}
	n.CPU = r.positive(fields["cpu"], "a capacity")
	n.Capacity = r.amounts(fields, resources)
	n.Power.Full = energy.Watts(r.amount(fields["cmax"], "watts"))
	n.Power.Idle = energy.Watts(r.number(fields["cmin"], 0, float64(n.Power.Full), fmt.Sprintf("idle watts from 0 to cmax, which is %g", float64(n.Power.Full))))
	if off, there := fields["coff"]; there {
		n.Power.Standby = energy.Watts(r.number(off, 0, float64(n.Power.Idle), fmt.Sprintf("watts when off from 0 to cmin, which is %g", float64(n.Power.Idle))))
	}
	last := energy.Point{Load: 0, Power: n.Power.Idle}
	for _, pair := range r.optional(fields, "points") {
		const want = "[load, watts], neither less than in the point before, the load more than that and less than 1"
		xy := r.list(pair, want)
		if len(xy) != 2 {
			r.fail(r.wrong(pair, want))
			return n
		}
		last.Load = r.number(xy[0], last.Load+1e-9, 1-1e-9, want)
		last.Power = energy.Watts(r.number(xy[1], float64(last.Power), float64(n.Power.Full), want))
		n.Power.Measured = append(n.Power.Measured, last)
	}
	return n
}

func (r *reader) job(v value, resources []string) (j energy.Job) {
	fields := r.fields(v, append([]string{"cpu"}, resources...), nil)
	if r.err != nil {
		return j
	}
	j.CPU = r.positive(fields["cpu"], "a CPU need")
	j.Need = r.amounts(fields, resources)
	return j
}

func (r *reader) goal(fields object, p *energy.Problem) {
	const tiny = 1e-9
	if floor, there := fields["ymin"]; there {
		p.Floor = r.number(floor, 0, 1, "a yield from 0 to 1")
	} else if p.Objective == energy.Mixed {
		p.Floor = 0.01
	}
	switch p.Objective {
	case energy.BoundedYield:
		p.Floor = r.number(fields["ybound"], tiny, 1, "a yield above 0, up to 1")
	case energy.BoundedPower:
		p.Budget = energy.Watts(r.positive(fields["ebound"], "watts"))
	default:
		p.Lambda = r.number(fields["lambda"], 0, 1, "a weight from 0 to 1")
		p.EMax = energy.Watts(r.positive(fields["emax"], "watts"))
	}
}

// Error is what is wrong with a file: the same as for instances of the planner.
type Error = format.Error
