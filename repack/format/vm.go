package format

import (
	"strconv"

	"vjob/repack"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// unset is a duration or an amount that the file does not tell.
const unset = -1

var noDurations = repack.Durations{
	Boot: unset, Shutdown: unset, Suspend: unset, ResumeLocal: unset, ResumeRemote: unset, Migrate: unset,
}

const vmKeys = "id, name, state, host, next, migrate, durations, weight, sleepable, stays, paused, copy, dirty, app, tier, "

// vm reads one VM.
func (d *document) vm(i int) {
	d.said = append(d.said, said{begins: d.place()})
	if i == maxElements {
		d.fail("more than a million VMs")
		return
	}
	now, next := d.resources.demand()
	d.instance.VMs = append(d.instance.VMs, repack.VM{Host: repack.Nowhere, Now: now, Next: next, Takes: noDurations, Weight: 1, Memory: unset})
	v := &d.instance.VMs[i]
	migrate := repack.Ticks(unset)
	keys := d.object(func(key string) {
		switch key {
		case "id":
			d.id(i, "VM", "vms")
		case "name":
			v.Name = d.named()
		case "state":
			v.State = repack.VMState(d.word("ready", "running", "sleeping", "killed"))
		case "next":
			v.Want = repack.VMState(d.word("ready", "running", "sleeping", "killed"))
		case "host":
			d.host(v, &d.said[i])
		case "migrate":
			migrate = d.time()
		case "durations":
			d.durations(&v.Takes, false)
		case "weight":
			v.Weight = d.integer(0, maxWeight, "")
		case "sleepable":
			v.Sleepable, d.said[i].sleepable = d.boolean(), true
		case "stays":
			v.Stays = d.boolean()
		case "paused":
			v.Paused = d.boolean()
		case "copy":
			v.Memory = d.integer(0, maxQuantity, "")
		case "dirty":
			v.Dirty = d.integer(0, maxQuantity, "")
		case "app", "tier":
			d.skip()
		default:
			if !d.resources.read(d, key, i, false) {
				d.unknown(key, vmKeys+d.resources.list(true))
			}
		}
	})
	d.need(d.said[i].begins, keys, "id", "cpu", "mem", "state", "next")
	if migrate != unset {
		v.Takes.Migrate = migrate
	}
	if v.State == repack.Killed && v.Want != repack.Killed && d.err == nil {
		d.wrongAt(d.said[i].begins, d.where()+".next", quoted(v.Want.String()), `"killed": nothing brings a killed VM back`)
	}
}

// host reads where a VM is; null is nowhere.
func (d *document) host(v *repack.VM, s *said) {
	if d.peek() == 'n' {
		d.skip()
	} else {
		v.Host = int(d.integer(0, 1<<40, "the id of a node, or null"))
	}
	s.host = d.from
}

// time reads how long something takes.
func (r *reader) time() repack.Ticks {
	return repack.Ticks(r.integer(0, maxTime, "seconds from 0 to 1000000000"))
}

// durations reads how long actions take: those on VMs, and at the top of the file
// those on nodes.
func (d *document) durations(t *repack.Durations, top bool) {
	begins := d.place()
	keys := d.object(func(key string) {
		switch to := duration(t, key); {
		case to != nil:
			*to = d.time()
		case top && key == "node_off":
			d.instance.NodeOff = d.time()
		case top && key == "node_on":
			d.instance.NodeOn = d.time()
		default:
			known := "boot, shutdown, suspend, resume_local, resume_remote, migrate"
			if top {
				known += ", node_off, node_on"
			}
			d.unknown(key, known)
		}
	})
	if top {
		d.need(begins, keys, "boot", "shutdown", "suspend", "resume_local", "resume_remote", "node_off", "node_on")
	}
}

func duration(t *repack.Durations, key string) *repack.Ticks {
	switch key {
	case "boot":
		return &t.Boot
	case "shutdown":
		return &t.Shutdown
	case "suspend":
		return &t.Suspend
	case "resume_local":
		return &t.ResumeLocal
	case "resume_remote":
		return &t.ResumeRemote
	case "migrate":
		return &t.Migrate
	}
	return nil
}
