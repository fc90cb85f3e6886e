//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"slices"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// jobPatience is how long a look waits for the jobs of all machines. QEMU answers
// in a millisecond, or hangs; then the look does not know the job.
const jobPatience = time.Second

// look lists the host, on lines that nothing else uses. That an idle one has broken, as
// when the daemon was restarted, shows only when it is used: then another is tried.
func (h *host) look(ctx context.Context) (hypervisor.View, error) {
	view, err := h.list(ctx)
	for range looks {
		if !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, errLost) {
			break
		}
		view, err = h.list(ctx)
	}
	return view, err
}

func (h *host) list(ctx context.Context) (hypervisor.View, error) {
	return ask(ctx, h.eyes, func(conn *libvirt.Connect) (hypervisor.View, error) {
		// NOWAIT: a machine that is busy is listed without what only QEMU knows.
		stats, err := conn.GetAllDomainStats(nil, libvirt.DOMAIN_STATS_STATE|libvirt.DOMAIN_STATS_CPU_TOTAL,
			libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT)
		if err != nil {
			return hypervisor.View{}, err
		}
		defer func() {
			for _, s := range stats {
				_ = s.Domain.Free() // the reference is local
			}
		}()
		return h.view(ctx, stats)
	})
}

// found is one machine of ours during a look.
type found struct {
	uuid string
	id   int
	who  identity
	copy hypervisor.Copy

	state  libvirt.DomainState
	reason libvirt.DomainPausedReason
	job    hypervisor.Job // by the answer; unknown before it
	asked  chan jobAnswer // closed without one when the question got no answer
	gone   bool           // it ended during the look
}

// take notes an answer; without one the job stays unknown.
func (f *found) take(a jobAnswer, answered bool) {
	if !answered {
		return
	}
	f.job, f.gone = a.job, a.gone
	if a.cap != nil {
		f.copy.Cap = *a.cap
	}
}

func (h *host) view(ctx context.Context, stats []libvirt.DomainStats) (hypervisor.View, error) {
	view := hypervisor.View{Node: h.Node}
	var ours []*found
	for _, s := range stats {
		name, err := s.Domain.GetName()
		if err != nil {
			return hypervisor.View{}, err
		}
		f, err := h.recognise(s)
		switch {
		case hasCode(err, libvirt.ERR_NO_DOMAIN): // it ended during the look
		case errors.Is(err, errStranger):
			view.Strangers = append(view.Strangers, name)
		case err != nil:
			return hypervisor.View{}, err
		default:
			ours = append(ours, f)
		}
	}
	h.askJobs(ours, func(uuid string, capped bool) (jobAnswer, error) {
		return h.askJob(context.WithoutCancel(ctx), uuid, capped)
	})
	now := time.Now()
	for _, f := range ours {
		f.copy.State, f.copy.Job = condition(f.state, f.reason, f.job)
		if f.gone && f.copy.State != hypervisor.CopyDead {
			continue
		}
		h.seen.listed(f.uuid, f.id, f.who, &f.copy, now)
		view.Copies = append(view.Copies, f.copy)
	}
	h.seen.forget(now)
	view.Endings = h.seen.told(now)
	slices.SortFunc(view.Copies, func(a, b hypervisor.Copy) int { return a.VM.Compare(b.VM) })
	slices.Sort(view.Strangers)
	return view, nil
}

// recognise reads the mark of a machine; errStranger says that it has none.
func (h *host) recognise(s libvirt.DomainStats) (*found, error) {
	uuid, err := s.Domain.GetUUIDString()
	if err != nil {
		return nil, err
	}
	f := &found{uuid: uuid, id: noID, job: hypervisor.JobUnknown}
	if s.State != nil {
		f.state, f.reason = s.State.State, libvirt.DomainPausedReason(s.State.Reason)
	}
	if id, err := s.Domain.GetID(); err == nil && id < 1<<31 {
		f.id = int(id)
	}
	who, known := h.seen.known(uuid, f.id)
	if !known {
		text, err := s.Domain.GetXMLDesc(0)
		if err != nil {
			return nil, err
		}
		if who, err = h.driver.cfg.identify(text); err != nil {
			return nil, err
		}
	}
	f.who = who
	f.copy = hypervisor.Copy{
		VM: who.mark.vm(), Stamp: who.mark.stamp(), Lock: who.lock, Size: who.size, Cap: h.seen.cap(uuid, f.id, who.cap),
	}
	if s.Cpu != nil {
		f.copy.CPUTime = time.Duration(s.Cpu.Time)
	}
	return f, nil
}

// askJobs fills in the jobs. Each machine is asked in a goroutine of its own, so
// that one that hangs does not hide the others, and outlives the look.
func (h *host) askJobs(ours []*found, ask func(uuid string, capped bool) (jobAnswer, error)) {
	for _, f := range ours {
		_, job := condition(f.state, f.reason, hypervisor.JobUnknown)
		if !h.seen.mayAsk(f.uuid, partial(job)) {
			continue
		}
		f.asked = make(chan jobAnswer, 1)
		answer, uuid, capped := f.asked, f.uuid, f.copy.Cap > 0
		h.driver.running.Go(func() {
			defer h.seen.asked(uuid)
			defer close(answer)
			if a, err := ask(uuid, capped); err == nil {
				answer <- a
			}
		})
	}
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	for i, f := range ours {
		if f.asked == nil {
			continue
		}
		select {
		case a, ok := <-f.asked:
			f.take(a, ok)
		case <-patience.C:
			for _, rest := range ours[i:] { // what has come by now
				select {
				case a, ok := <-rest.asked:
					rest.take(a, ok)
				default:
				}
			}
			return
		}
	}
}

// askJob asks a machine for its job, and for its cap if it has one: a cap can be lost;
// where none was given there is nothing to lose.
func (h *host) askJob(ctx context.Context, uuid string, capped bool) (jobAnswer, error) {
	return ask(ctx, h.jobs, func(conn *libvirt.Connect) (jobAnswer, error) {
		dom, err := conn.LookupDomainByUUIDString(uuid)
		if hasCode(err, libvirt.ERR_NO_DOMAIN) {
			return jobAnswer{gone: true}, nil
		}
		if err != nil {
			return jobAnswer{}, err
		}
		defer dom.Free() //nolint:errcheck // the reference is local
		a, err := jobOf(dom)
		if err == nil && capped && !a.gone {
			if now, err := capNow(dom); err == nil {
				a.cap = &now
			}
		}
		return a, err
	})
}
