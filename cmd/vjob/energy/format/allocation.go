package format

import (
	"fmt"
	"io"
	"math"

	"vjob/energy"
)

// Allocation is what a scheduler made of an instance.
type Allocation struct {
	ID string
	// Allocation is nil for the result "fail". Its CPU is nil if the file has only
	// placements; [energy.Problem.Equal] gives the best shares.
	*energy.Allocation
	Why string // reason of "fail"
}

// ReadAllocations reads an allocations file for some instances. Not all of them need be
// there; none may be there twice, and none that is not among the instances.
func ReadAllocations(in io.Reader, name string, instances []*Instance) ([]Allocation, error) {
	f, top, err := read(in, name)
	if err != nil {
		return nil, err
	}
	known := map[string]*Instance{}
	for _, i := range instances {
		known[i.ID] = i
	}
	r := &reader{file: f}
	fields := r.fields(top, []string{"allocations"}, []string{"format", "solver"})
	var list []Allocation
	for _, item := range r.list(fields["allocations"], "a list of allocations") {
		a := r.allocation(item, known)
		if r.err != nil {
			break
		}
		delete(known, a.ID)
		list = append(list, a)
	}
	if r.err != nil {
		return nil, r.err
	}
	return list, nil
}

func (r *reader) allocation(v value, known map[string]*Instance) (a Allocation) {
	fields := r.fields(v, []string{"id"}, []string{"status", "assign", "cpu", "why"})
	if r.err != nil {
		return a
	}
	a.ID = r.text(fields["id"], "the id of an instance")
	instance := known[a.ID]
	if instance == nil && r.err == nil {
		r.fail(r.wrong(fields["id"], "the id of an instance that has no allocation yet"))
	}
	status, there := fields["status"]
	if there && status.text() != "ok" && status.text() != "fail" {
		r.fail(r.wrong(status, `"ok" or "fail"`))
	}
	if r.err != nil || status.text() == "fail" {
		return a
	}
	a.Allocation = &energy.Allocation{}
	jobs := len(instance.Jobs)
	const whole = 1 << 40
	for _, item := range r.sized(fields, v, "assign", jobs) {
		last := len(instance.Nodes) - 1
		at := r.number(item, 0, float64(last), fmt.Sprintf("a host from 0 to %d", last))
		if at != math.Trunc(at) || at > whole {
			r.fail(r.wrong(item, "a whole number"))
		}
		a.At = append(a.At, int(at))
	}
	if cpu, there := fields["cpu"]; there && cpu.Kind() != 'n' {
		for _, item := range r.sized(fields, v, "cpu", jobs) {
			a.CPU = append(a.CPU, r.number(item, -largest, largest, "a CPU share"))
		}
	}
	return a
}

// sized is a list with one item for each job.
func (r *reader) sized(fields object, v value, key string, jobs int) []value {
	if _, there := fields[key]; !there {
		r.fail(r.fault(v.from, v.path, fmt.Sprintf("%q is missing", key)))
		return nil
	}
	list := r.list(fields[key], "a list")
	if len(list) != jobs && r.err == nil {
		r.fail(r.fault(fields[key].from, fields[key].path, fmt.Sprintf("%d items are wrong: want one for each of the %d jobs", len(list), jobs)))
	}
	return list
}
