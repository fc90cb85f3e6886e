package format

import (
	"fmt"
	"io"

	"vjob/repack"
)

// The formats that files say they have.
const (
	InstanceFormat = "brsp-instance/1"
	PlanFormat     = "brsp-plan/1"
)

// Problem is what an instance file holds. The rules of the instance are made of
// the constraints, one of each, in their order; the constraints can be written
// again, the rules cannot.
type Problem struct {
	Instance    *repack.Instance
	Constraints []Constraint
}

// ReadInstance reads a problem. The file's name is for messages. All errors are of
// type [*Error].
func ReadInstance(in io.Reader, file string) (*Problem, error) {
	d := &document{
		reader: open(in), file: file,
		instance: repack.Instance{Dims: []string{"cpu", "mem"}},
		defaults: noDurations,
	}
	d.resources.start(d.instance.Dims)
	d.read()
	d.finish()
	d.complete()
	if err := d.result(file); err != nil {
		return nil, err
	}
	p := &Problem{Instance: &d.instance}
	if err := d.post(p); err != nil {
		return nil, err
	}
	return p, nil
}

// document is an instance file that is being read. Its parts may come in any
// order, so what needs another part is checked when all are there.
type document struct {
	*reader
	file      string
	instance  repack.Instance
	resources resources
	defaults  repack.Durations // of VMs that have none of their own
	sleepable bool             // all VMs, but for those that say otherwise
	said      []said           // of each VM
	posted    []posted
	gangs     []Place
	links     *network
}

// said is what a VM has said about itself that is checked later.
type said struct {
	begins    Place
	host      Place
	sleepable bool // in either way
}

// informative keys tell people something, and nothing to a search.
var informative = map[string]bool{"seed": true, "servers": true, "ratio": true, "units": true, "expect": true, "note": true}

func (d *document) read() {
	begins := d.place()
	keys := d.object(func(key string) {
		switch key {
		case "format":
			d.format(InstanceFormat)
		case "name":
			d.instance.Name = d.named()
		case "durations":
			d.durations(&d.defaults, true)
		case "resources":
			d.declare()
		case "nodes":
			d.list(d.node)
		case "vms":
			d.list(d.vm)
		case "constraints":
			d.list(d.constraint)
		case "gangs":
			d.list(d.gang)
		case "sleepable":
			d.sleepable = d.boolean()
		case "network":
			d.network()
		default:
			if !informative[key] {
				d.unknown(key, "format, name, durations, resources, nodes, vms, constraints, gangs, sleepable, network, seed, servers, ratio, units, expect, note")
				return
			}
			d.skip()
		}
	})
	d.need(begins, keys, "format", "durations", "nodes", "vms")
}

// format checks what kind of file it is.
func (r *reader) format(want string) {
	if got := r.string(quoted(want)); got != want {
		r.wrong(quoted(got), quoted(want))
	}
}

// named reads the name of something.
func (r *reader) named() string {
	name := r.string("a name")
	if len(name) > maxName {
		r.wrong(quoted(name), "at most 256 bytes")
	}
	return name
}

// node reads one node.
func (d *document) node(i int) {
	begins := d.place()
	if i == maxElements {
		d.fail("more than a million nodes")
		return
	}
	d.instance.Nodes = append(d.instance.Nodes, repack.Node{Capacity: d.resources.capacity()})
	n := &d.instance.Nodes[i]
	var busy Place
	keys := d.object(func(key string) {
		switch key {
		case "id":
			d.id(i, "node", "nodes")
		case "name":
			n.Name = d.named()
		case "state":
			n.State = repack.NodeState(d.word("online", "offline"))
		case "next":
			n.Want = repack.NodeState(d.word("online", "offline", "any"))
		case "rack":
			n.Rack = int(d.integer(0, maxElements, ""))
		case "transfers":
			n.Transfers = int(d.integer(0, maxElements, ""))
		case "busy":
			busy = d.place()
			for _, until := range d.indexes() {
				n.Busy = append(n.Busy, repack.Ticks(until))
			}
		default:
			if !d.resources.read(d, key, i, true) {
				d.unknown(key, "id, name, state, next, rack, transfers, busy, "+d.resources.list(false))
			}
		}
	})
	d.need(begins, keys, "id", "cpu", "mem", "state", "next")
	if d.err == nil && len(n.Busy) > n.Transfers {
		d.wrongAt(busy, fmt.Sprintf("nodes[%d].busy", i), fmt.Sprintf("a list of %d", len(n.Busy)), fmt.Sprintf("at most as many as transfers: %d", n.Transfers))
	}
}

// id reads the number of an element, which is its index.
func (d *document) id(i int, what, of string) {
	got := d.integer(0, 1<<40, "")
	switch {
	case d.err != nil || got == int64(i):
	case got < int64(i):
		d.wrong(itoa(got), itoa(int64(i))+": "+of+"["+itoa(got)+"] is "+what+" "+itoa(got)+" already")
	default:
		d.wrong(itoa(got), itoa(int64(i))+": ids count from 0 on, in order")
	}
}

// gang reads one gang.
func (d *document) gang(i int) {
	if i == maxElements {
		d.fail("more than a million gangs")
		return
	}
	d.gangs = append(d.gangs, d.place())
	d.instance.Gangs = append(d.instance.Gangs, d.indexes())
}

// indexes reads a list of ids.
func (r *reader) indexes() []int {
	list := []int{}
	r.list(func(i int) {
		if i == maxElements {
			r.fail("a list of more than a million")
			return
		}
		list = append(list, int(r.integer(0, maxElements, "")))
	})
	return list
}
