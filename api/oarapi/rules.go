package oarapi

import (
	"cmp"
	"slices"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/request"
)

// AdmitVJob applies the rules of admission to a vjob of the native API. Rules about levels of resources
// never match it, and its memory is always known. It takes the values that rules set; properties become
// a rule about its nodes. The error is an [*oar.Error].
func AdmitVJob(w *wire.Submission, by Caller, site *admission.Site, nodes request.Inventory) error {
	admitted, _, err := site.Policy.Admit(admissionJob(w, by))
	if err != nil {
		return err
	}
	if q := admitted.Queue; q == typeBesteffort && !slices.Contains(site.Queues, q) {
		w.BestEffort = true
	} else if q != oar.DefaultQueue || slices.Contains(site.Queues, q) {
		w.Queue = q
	}
	w.Project = admitted.Project
	w.BestEffort = w.BestEffort || slices.Contains(admitted.Types, typeBesteffort)
	w.Idempotent = w.Idempotent || slices.Contains(admitted.Types, typeIdempotent)
	for i, a := range admitted.Request.Alternatives {
		if a.Walltime == request.NoWalltime {
			continue
		}
		if i == 0 {
			w.WalltimeSeconds = int64(a.Walltime / time.Second)
		} else {
			w.Shapes[i-1].WalltimeSeconds = int64(a.Walltime / time.Second)
		}
	}
	eachVM(w, func(v *wire.VMSpec) { v.Image = cmp.Or(v.Image, admitted.Image) })
	if len(admitted.Properties) == 0 {
		return nil
	}
	fence, err := request.Fence(admitted.Properties, nodes, site.Request)
	if err != nil {
		return err
	}
	w.Rules = placement.Script(w.Rules) + fence
	for i := range w.Shapes {
		w.Shapes[i].Rules = placement.Script(w.Shapes[i].Rules) + fence
	}
	return nil
}

// admissionJob returns a vjob as rules see it.
func admissionJob(w *wire.Submission, by Caller) admission.Job {
	j := admission.Job{
		User: by.Name, Groups: by.Groups, GroupsUnknown: by.GroupsUnknown, Queue: w.Queue, Project: w.Project, Reservation: !w.Reservation.IsZero(),
		Array: max(w.Array, len(w.Parameters)), WaitingReservations: by.WaitingReservations, ActiveJobs: by.ActiveJobs,
		Request: &request.Request{Alternatives: []request.Alternative{{Walltime: optionalWalltime(w.WalltimeSeconds)}}},
	}
	for i := range w.Shapes {
		j.Request.Alternatives = append(j.Request.Alternatives, request.Alternative{Walltime: optionalWalltime(w.Shapes[i].WalltimeSeconds)})
	}
	for _, t := range []struct {
		name string
		is   bool
	}{{typeBesteffort, w.BestEffort}, {typeIdempotent, w.Idempotent}, {typeContainer, w.Container}, {typeInner, w.Inner != ""}, {typeDeadline, !w.Deadline.IsZero()}} {
		if t.is {
			j.Types = append(j.Types, t.name)
		}
	}
	eachVM(w, func(v *wire.VMSpec) {
		j.Memory, j.Image = max(j.Memory, cluster.MiB(v.MemoryMiB)), cmp.Or(j.Image, v.Image)
	})
	return j
}

// optionalWalltime converts seconds; 0 is request.NoWalltime.
func optionalWalltime(seconds int64) time.Duration {
	if seconds == 0 {
		return request.NoWalltime
	}
	return time.Duration(seconds) * time.Second
}

// eachVM calls do for all VMs, including those of other shapes.
func eachVM(w *wire.Submission, do func(*wire.VMSpec)) {
	if w.Template != nil {
		do(w.Template)
	}
	for i := range w.VMs {
		do(&w.VMs[i])
	}
	for i := range w.Shapes {
		if s := &w.Shapes[i]; s.Template != nil {
			do(s.Template)
		}
		for k := range w.Shapes[i].VMs {
			do(&w.Shapes[i].VMs[k])
		}
	}
}
