package format

import (
	"fmt"

	"vjob/repack"
)

// complete fills in what VMs have from the top of the file, and checks what
// concerns several parts of it.
func (d *document) complete() {
	if d.err != nil {
		return
	}
	d.resources.settle(d)
	if d.err != nil {
		return
	}
	if len(d.instance.Nodes) == 0 {
		d.err = &Error{Path: "nodes", Text: "an instance has at least one node"}
		return
	}
	for i := range d.instance.VMs {
		d.completeVM(i)
	}
	d.connect()
	d.checkGangs()
	d.checkTotal()
}

func (d *document) completeVM(i int) {
	v, said := &d.instance.VMs[i], &d.said[i]
	fill := func(to *repack.Ticks, from repack.Ticks) {
		if *to == unset {
			*to = from
		}
	}
	t, top := &v.Takes, &d.defaults
	fill(&t.Boot, top.Boot)
	fill(&t.Shutdown, top.Shutdown)
	fill(&t.Suspend, top.Suspend)
	fill(&t.ResumeLocal, top.ResumeLocal)
	fill(&t.ResumeRemote, top.ResumeRemote)
	fill(&t.Migrate, top.Migrate)
	if !said.sleepable {
		v.Sleepable = d.sleepable
	}
	if v.Host == repack.Nowhere && v.State != repack.Running && v.State != repack.Sleeping && t.Migrate != unset {
		return
	}
	path := fmt.Sprintf("vms[%d]", i)
	if t.Migrate == unset && d.err == nil {
		d.err = &Error{Place: said.begins, Path: path, Text: `"migrate" is missing: the seconds of its live migration, here or in "durations" at the top`}
	}
	d.checkHost(v, said, path+".host")
}

// checkHost checks that a VM is where it can be.
func (d *document) checkHost(v *repack.VM, said *said, path string) {
	at := said.host
	if at == (Place{}) {
		at = said.begins
	}
	hosted := v.State == repack.Running || v.State == repack.Sleeping
	last := len(d.instance.Nodes) - 1
	switch {
	case !hosted && v.Host != repack.Nowhere:
		d.wrongAt(at, path, itoa(int64(v.Host)), "null: a VM that is "+v.State.String()+" is nowhere")
	case hosted && v.Host == repack.Nowhere:
		d.wrongAt(at, path, "null", fmt.Sprintf("a node from 0 to %d: the VM is %s", last, v.State))
	case hosted && v.Host > last:
		d.wrongAt(at, path, itoa(int64(v.Host)), fmt.Sprintf("a node from 0 to %d", last))
	case v.State == repack.Running && d.instance.Nodes[v.Host].State == repack.Offline:
		d.wrongAt(at, path, itoa(int64(v.Host)), "a node that is online: the VM is running")
	}
}

// checkGangs checks that gangs have members and share none.
func (d *document) checkGangs() {
	in := map[int]int{}
	for g, vms := range d.instance.Gangs {
		path := fmt.Sprintf("gangs[%d]", g)
		if len(vms) == 0 {
			d.wrongAt(d.gangs[g], path, "an empty list", "the VMs of a gang")
		}
		for i, vm := range vms {
			other, ok := in[vm]
			switch path := fmt.Sprintf("%s[%d]", path, i); {
			case vm >= len(d.instance.VMs):
				d.wrongAt(d.gangs[g], path, itoa(int64(vm)), inRange(len(d.instance.VMs), "VM"))
			case ok && other == g:
				d.wrongAt(d.gangs[g], path, itoa(int64(vm)), "each VM once")
			case ok:
				d.wrongAt(d.gangs[g], path, itoa(int64(vm)), fmt.Sprintf("a VM of no other gang: it is in gangs[%d]", other))
			}
			in[vm] = g
		}
	}
}

// checkTotal checks that no objective can overflow: one action after the other,
// each VM acting a few times, is the longest plan.
func (d *document) checkTotal() {
	var length, weights float64
	narrow := narrowest(&d.instance)
	for i := range d.instance.VMs {
		v := &d.instance.VMs[i]
		t := &v.Takes
		length += float64(max(t.Boot, t.Shutdown, t.Suspend, t.ResumeLocal, t.ResumeRemote, t.Migrate))
		weights += float64(v.Weight)
		if narrow > 0 {
			length += float64(v.Memory) / float64(max(1, narrow-v.Dirty))
		}
	}
	for n := range d.instance.Nodes {
		for _, until := range d.instance.Nodes[n].Busy {
			length += float64(until)
		}
	}
	length += float64(len(d.instance.Nodes)) * float64(max(d.instance.NodeOff, d.instance.NodeOn))
	if 4*length*max(1, weights) > maxTotal && d.err == nil {
		d.err = &Error{Path: "vms", Text: "the durations and weights are so large that the objective of a plan may overflow"}
	}
}
