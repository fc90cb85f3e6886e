//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// jobTimeout is how long a look waits for the jobs of all machines. QEMU answers in a
// millisecond or hangs; then the job is unknown.
const jobTimeout = time.Second

// lister is the part of a [libvirt.Connect] that a look uses.
type lister interface {
	GetAllDomainStats(doms []*libvirt.Domain, kinds libvirt.DomainStatsTypes, flags libvirt.ConnectGetAllDomainStatsFlags) ([]libvirt.DomainStats, error)
}

// question is what a look queries of one machine, beside its job.
type question struct {
	uuid   string
	tuning bool // it may have a cap or a weight
	sample bool // its demand is due to be measured
}

// jobQuery queries a machine.
type jobQuery func(ctx context.Context, q question) (jobAnswer, error)

// look lists the node, on connections that nothing else uses.
func (n *node) look(ctx context.Context) (hypervisor.View, error) {
	return retryList(func() (hypervisor.View, error) {
		return withConn(ctx, n.listPool, func(conn *libvirt.Connect) (hypervisor.View, error) { return n.list(ctx, conn) })
	})
}

// retryList lists a node. An idle connection that broke, as when the daemon was restarted, shows
// it only on use: then another is tried.
func retryList(list func() (hypervisor.View, error)) (hypervisor.View, error) {
	view, err := list()
	for range listConns {
		if !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, errLost) {
			break
		}
		view, err = list()
	}
	return view, err
}

func (n *node) list(ctx context.Context, conn lister) (hypervisor.View, error) {
	// NOWAIT: a busy machine is listed without what only QEMU knows.
	stats, err := conn.GetAllDomainStats(nil, libvirt.DOMAIN_STATS_STATE|libvirt.DOMAIN_STATS_CPU_TOTAL|libvirt.DOMAIN_STATS_INTERFACE,
		libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT)
	if err != nil {
		return hypervisor.View{}, err
	}
	defer func() {
		for _, s := range stats {
			_ = s.Domain.Free() // the reference is local
		}
	}()
	return n.view(ctx, stats, n.queryJob)
}

// listedMachine is one machine of ours during a look.
type listedMachine struct {
	uuid     string
	id       int
	identity identity
	copy     hypervisor.Copy

	state  libvirt.DomainState
	reason libvirt.DomainPausedReason
	job    hypervisor.Job // from the answer; unknown before
	sample *sample        // from the answer
	answer chan jobAnswer // closed without an answer when the query failed
	gone   bool           // the machine ended during the look
}

// starting reports whether QEMU was still being started.
func (m *listedMachine) starting() bool {
	return m.state == libvirt.DOMAIN_PAUSED && m.reason == libvirt.DOMAIN_PAUSED_STARTING_UP
}

// setAnswer records the answer to a query; without an answer the job stays unknown.
func (m *listedMachine) setAnswer(a jobAnswer, answered bool) {
	if !answered {
		return
	}
	m.job, m.gone, m.sample = a.job, a.gone, a.sample
	if a.tuning != nil {
		m.copy.Cap, m.copy.Weight = a.tuning.cap, a.tuning.weight
	}
}

func (n *node) view(ctx context.Context, stats []libvirt.DomainStats, ask jobQuery) (hypervisor.View, error) {
	view := hypervisor.View{Node: n.Node}
	var ours []*listedMachine
	for _, s := range stats {
		m, err := n.recognise(s)
		switch {
		case hasCode(err, libvirt.ERR_NO_DOMAIN): // it ended during the look
		case errors.Is(err, errUnmanaged):
			name, _ := s.Domain.GetName() // no call: the listing has the name
			view.Unmanaged = append(view.Unmanaged, name)
		case err != nil:
			return hypervisor.View{}, err
		default:
			ours = append(ours, m)
		}
	}
	n.queryJobs(ctx, ours, ask)
	now := time.Now()
	for _, m := range ours {
		m.copy.State, m.copy.Job = copyState(m.state, m.reason, m.job)
		if m.gone && m.copy.State != hypervisor.CopyDead {
			continue
		}
		n.cache.recordListed(m, now)
		view.Copies = append(view.Copies, m.copy)
	}
	n.cache.expire(now)
	var err error
	if view.Endings, err = n.endings(ctx, now); err != nil {
		return hypervisor.View{}, err
	}
	slices.SortFunc(view.Copies, func(a, b hypervisor.Copy) int { return a.VM.Compare(b.VM) })
	slices.Sort(view.Unmanaged)
	return view, nil
}

// exitPatience is for how long a console that cannot be read keeps looks from succeeding: until then the exit status
// of a guest that ended is open, and so is what becomes of its vjob.
const exitPatience = 2 * time.Minute

// endings lists how guests ended, oldest first. It reads the exit statuses of those that it lists for the first time.
func (n *node) endings(ctx context.Context, now time.Time) ([]hypervisor.Ending, error) {
	recent := n.cache.recentEndings(now)
	list := make([]hypervisor.Ending, len(recent))
	for i, e := range recent {
		if e.Cause == hypervisor.CauseShutdown && e.Exit.IsZero() {
			status, err := runFileOp(ctx, n.driver.files, func() (cluster.ExitStatus, error) {
				return n.driver.cfg.exitStatus(e.VM, e.printed)
			})
			switch {
			case err == nil:
			case now.Sub(e.At) < exitPatience:
				return nil, err
			default:
				n.driver.log.LogAttrs(ctx, slog.LevelWarn, "exit status not read", slog.String("vm", e.VM.String()), slog.String("error", err.Error()))
				status = cluster.UnknownExit
			}
			n.cache.recordExit(e, status)
			e.Exit = status
		}
		list[i] = e.Ending
	}
	return list, nil
}

// recognise reads the mark of a machine. A machine without our mark is errUnmanaged.
func (n *node) recognise(s libvirt.DomainStats) (*listedMachine, error) {
	uuid, err := s.Domain.GetUUIDString()
	if err != nil {
		return nil, err
	}
	m := &listedMachine{uuid: uuid, id: noID, job: hypervisor.JobUnknown}
	if s.State != nil {
		m.state, m.reason = s.State.State, libvirt.DomainPausedReason(s.State.Reason)
	}
	if id, err := s.Domain.GetID(); err == nil { // it runs
		m.id = int(id)
	}
	found, known := n.cache.lookup(uuid, m.id)
	if !known {
		text, err := s.Domain.GetXMLDesc(0)
		if err != nil {
			return nil, err
		}
		if found, err = n.driver.cfg.identify(text); err != nil {
			return nil, err
		}
	}
	m.identity = found
	tuned := n.cache.tuning(uuid, m.id, found.tuning)
	m.copy = hypervisor.Copy{
		VM: found.mark.vm(), Stamp: found.mark.stamp(), Lock: found.lock, Size: found.size, Cap: tuned.cap, Weight: tuned.weight,
		Hardware: found.hardware,
	}
	if s.Cpu != nil {
		m.copy.CPUTime = time.Duration(s.Cpu.Time)
	}
	m.copy.Traffic = traffic(s.Net)
	return m, nil
}

// queryJobs fills in the jobs. Each machine is queried in a goroutine of its own, which may
// outlive the look, so that a machine that hangs does not delay the others.
func (n *node) queryJobs(ctx context.Context, ours []*listedMachine, ask jobQuery) {
	ctx = context.WithoutCancel(ctx)
	now := time.Now()
	for _, m := range ours {
		state, job := copyState(m.state, m.reason, hypervisor.JobUnknown)
		if !n.cache.beginQuery(m.uuid, partial(job)) {
			continue
		}
		m.answer = make(chan jobAnswer, 1)
		answer, q := m.answer, question{
			uuid:   m.uuid,
			tuning: m.copy.Cap > 0 || m.copy.Weight > 0 || n.cache.tuned(m.uuid),
			sample: state == hypervisor.CopyRunning && n.cache.sampleDue(m.uuid, m.id, now),
		}
		n.driver.running.Go(func() {
			defer n.cache.endQuery(q.uuid)
			defer close(answer)
			if a, err := ask(ctx, q); err == nil {
				answer <- a
			}
		})
	}
	patience := time.After(jobTimeout)
	for i, m := range ours {
		if m.answer == nil {
			continue
		}
		select {
		case a, ok := <-m.answer:
			m.setAnswer(a, ok)
		case <-patience:
			for _, rest := range ours[i:] { // use the answers that have arrived
				select {
				case a, ok := <-rest.answer:
					rest.setAnswer(a, ok)
				default:
				}
			}
			return
		}
	}
}

// queryJob is the [jobQuery] that looks use.
func (n *node) queryJob(ctx context.Context, q question) (jobAnswer, error) {
	return withConn(ctx, n.jobPool, func(conn *libvirt.Connect) (jobAnswer, error) {
		dom, err := conn.LookupDomainByUUIDString(q.uuid)
		if hasCode(err, libvirt.ERR_NO_DOMAIN) {
			return jobAnswer{gone: true}, nil
		}
		if err != nil {
			return jobAnswer{}, err
		}
		defer dom.Free() //nolint:errcheck // the reference is local
		a, err := answerOf(dom, q.tuning)
		if err == nil && q.sample && !a.gone {
			a.sample = takeSample(conn, dom)
		}
		return a, err
	})
}

// queryable is the part of a [libvirt.Domain] that a look queries.
type queryable interface {
	abortable
	tunable
}

// answerOf queries the job of a machine, and its tuning if it may have been tuned: a cap can be
// lost, so that the last known one is not enough. Nor is the description, which names what the host
// cannot do.
func answerOf(m queryable, tuned bool) (jobAnswer, error) {
	a, err := jobOf(m)
	if err != nil || a.gone || !tuned {
		return a, err
	}
	now, err := currentTuning(m)
	if err == nil || untunable(err) {
		a.tuning = &now
	}
	return a, nil
}
