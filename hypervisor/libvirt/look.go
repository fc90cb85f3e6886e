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

// lister is what a look needs of a host: a [libvirt.Connect].
type lister interface {
	GetAllDomainStats(doms []*libvirt.Domain, kinds libvirt.DomainStatsTypes, flags libvirt.ConnectGetAllDomainStatsFlags) ([]libvirt.DomainStats, error)
}

// question asks a machine for its job, and for its cap if it may have one.
type question func(ctx context.Context, uuid string, capped bool) (jobAnswer, error)

// look lists the host, on lines that nothing else uses.
func (h *host) look(ctx context.Context) (hypervisor.View, error) {
	return onAnyLine(func() (hypervisor.View, error) {
		return ask(ctx, h.eyes, func(conn *libvirt.Connect) (hypervisor.View, error) { return h.list(ctx, conn) })
	})
}

// onAnyLine lists a host. An idle line that has broken, as when the daemon was restarted,
// shows it only when it is used: then another is tried.
func onAnyLine(list func() (hypervisor.View, error)) (hypervisor.View, error) {
	view, err := list()
	for range looks {
		if !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, errLost) {
			break
		}
		view, err = list()
	}
	return view, err
}

func (h *host) list(ctx context.Context, conn lister) (hypervisor.View, error) {
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
	return h.view(ctx, stats, h.askJob)
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

func (h *host) view(ctx context.Context, stats []libvirt.DomainStats, ask question) (hypervisor.View, error) {
	view := hypervisor.View{Node: h.Node}
	var ours []*found
	for _, s := range stats {
		f, err := h.recognise(s)
		switch {
		case hasCode(err, libvirt.ERR_NO_DOMAIN): // it ended during the look
		case errors.Is(err, errStranger):
			name, _ := s.Domain.GetName() // the listing has brought it
			view.Strangers = append(view.Strangers, name)
		case err != nil:
			return hypervisor.View{}, err
		default:
			ours = append(ours, f)
		}
	}
	h.askJobs(ctx, ours, ask)
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
	if id, err := s.Domain.GetID(); err == nil { // it runs
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
func (h *host) askJobs(ctx context.Context, ours []*found, ask question) {
	ctx = context.WithoutCancel(ctx)
	for _, f := range ours {
		_, job := condition(f.state, f.reason, hypervisor.JobUnknown)
		if !h.seen.mayAsk(f.uuid, partial(job)) {
			continue
		}
		f.asked = make(chan jobAnswer, 1)
		answer, uuid, capped := f.asked, f.uuid, f.copy.Cap > 0 || h.seen.tuned(f.uuid)
		h.driver.running.Go(func() {
			defer h.seen.asked(uuid)
			defer close(answer)
			if a, err := ask(ctx, uuid, capped); err == nil {
				answer <- a
			}
		})
	}
	patience := time.After(jobPatience)
	for i, f := range ours {
		if f.asked == nil {
			continue
		}
		select {
		case a, ok := <-f.asked:
			f.take(a, ok)
		case <-patience:
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

// askJob is the [question] of looks.
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
		return answerOf(dom, capped)
	})
}

// askable is what a look asks of a machine itself: a [libvirt.Domain].
type askable interface {
	abortable
	tunable
}

// answerOf asks a machine for its job, and for its cap if it may have one: a cap can be
// lost; where a cap was never asked for there is nothing to lose.
func answerOf(m askable, capped bool) (jobAnswer, error) {
	a, err := jobOf(m)
	if err != nil || a.gone || !capped {
		return a, err
	}
	if now, err := capNow(m); err == nil {
		a.cap = &now
	}
	return a, nil
}
