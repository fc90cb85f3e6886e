//go:build libvirt_dlopen

package endtoend

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/tests/lab"
)

// tortureRest is how long gangs may take to rest after a fault was healed.
const tortureRest = 5 * time.Minute

// rest waits until every gang is as it was ordered to be, and reports whether that
// happened. A gang that was held is released, as an administrator does.
func (tt *torture) rest(o orders) bool {
	tt.Helper()
	before := tt.counted()
	for deadline := time.Now().Add(tortureRest); ; time.Sleep(200 * time.Millisecond) {
		i := slices.IndexFunc(tt.gangs, func(v *victim) bool { return !tt.arrived(v, o.drain, before[v]) })
		if i < 0 {
			break
		}
		if time.Now().After(deadline) {
			v := tt.gangs[i]
			tt.violate(v, fmt.Sprintf("no rest in %s: it is %s", tortureRest, tt.job(v.id).Reason))
			return false
		}
	}
	if o.drain != "" {
		tt.online(o.drain)
	}
	moved := 0
	for _, v := range tt.gangs {
		if !v.rests && !slices.Contains(o.resume, v) && tt.home(v) != o.homes[v.id] {
			moved++
		}
	}
	tt.switches += len(o.suspend) + len(o.resume) + moved
	tt.all.change(func() {
		tt.all.suspends += len(o.suspend)
		tt.all.resumes += len(o.resume)
		tt.all.migrates += moved
	})
	return true
}

// counted is how far the guests of each gang have counted.
func (tt *torture) counted() map[*victim][]int {
	all := map[*victim][]int{}
	for _, v := range tt.gangs {
		for rank := range v.vms {
			all[v] = append(all[v], len(tt.lab.Counters(vm(v.id, rank))))
		}
	}
	return all
}

// arrived reports whether a gang is where it was ordered to be, and all of it.
func (tt *torture) arrived(v *victim, drained cluster.NodeID, before []int) bool {
	tt.Helper()
	job := tt.job(v.id)
	if job.Ended != nil || tt.lost(v, job) {
		return true // the checks tell
	}
	if v.rests {
		return job.State == "suspended"
	}
	if job.Held {
		tt.all.change(func() { tt.all.holds[job.Reason]++ })
		tt.Logf("vjob %d is held: %s", v.id, job.Reason)
		_, err := tt.d.client.Release(tt.Context(), v.id)
		tt.must(err)
	}
	if job.State != "running" || job.Phase != "active" || slices.ContainsFunc(job.VMs, func(m wire.VM) bool {
		return m.NextNode != "" || m.Node == string(drained)
	}) {
		return false
	}
	for rank, n := range before {
		if len(tt.lab.Counters(vm(v.id, rank))) < n+3 {
			return false
		}
	}
	return true
}

// lost reports whether a gang was given up since it was last looked at.
func (tt *torture) lost(v *victim, job wire.VJobDetail) bool {
	return slices.ContainsFunc(job.Events, func(e wire.Event) bool {
		return e.Seq > int64(v.told) && e.Kind == "alarm" && strings.Contains(e.Text, "lost:")
	})
}

// check says what is wrong with a gang at rest; "" is nothing.
func (tt *torture) check(v *victim) string {
	tt.Helper()
	job := tt.job(v.id)
	if tt.lost(v, job) || job.Ended != nil {
		return "lost"
	}
	if len(job.Events) > 0 {
		v.told = int(job.Events[len(job.Events)-1].Seq)
	}
	for rank := range job.VMs {
		if broken := lab.Broken(tt.lab.Counters(vm(v.id, rank))); broken != "" {
			return fmt.Sprintf("guest %d: %s", rank, broken)
		}
	}
	copies, err := tt.eyes.copies(tt.Context(), cluster.VJobID(v.id))
	tt.must(err)
	if !v.rests {
		return whole(v, copies)
	}
	if len(copies) > 0 {
		return fmt.Sprintf("it is suspended and has the copies %v", copies)
	}
	images := tt.images(v.id)
	switch {
	case len(images) != v.vms:
		return fmt.Sprintf("it is suspended, %d VMs, with the images %v", v.vms, slices.Sorted(maps.Keys(images)))
	case v.images != nil && !maps.Equal(v.images, images):
		return fmt.Sprintf("its images %v became %v", v.images, images)
	}
	v.images = images
	return ""
}

// whole says why a gang does not run with one copy of each VM.
func whole(v *victim, copies map[cluster.VMID]map[cluster.NodeID]string) string {
	for rank := range v.vms {
		found := slices.Collect(maps.Values(copies[vm(v.id, rank)]))
		if !slices.Equal(found, []string{"running"}) {
			return fmt.Sprintf("guest %d has the copies %v, want one that runs", rank, copies[vm(v.id, rank)])
		}
	}
	return ""
}

// replace ends all gangs and submits new ones: what is broken stays broken.
func (tt *torture) replace() {
	tt.Helper()
	tt.clear()
	var gangs []gang
	for _, v := range tt.gangs {
		gangs = append(gangs, v.gang)
	}
	tt.begin(gangs)
}
