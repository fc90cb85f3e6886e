//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// abortable is the part of a [libvirt.Domain] that an abort uses.
type abortable interface {
	GetState() (libvirt.DomainState, int, error)
	GetJobStats(flags libvirt.DomainGetJobStatsFlags) (*libvirt.DomainJobInfo, error)
	AbortJob() error
	Destroy() error
}

// abort cancels the job of a machine; without a job it does nothing. libvirt cannot abort the
// job of a machine that is being restored or migrated in, so such a machine is destroyed.
//
// An incoming machine may become complete between the last check here and the end of Destroy,
// if its source is still sending: callers abort at the destination only if the source has no
// outgoing job. After a restore the image still exists.
func abort(ctx context.Context, m abortable) error {
	job, err := currentJob(m)
	switch {
	case err != nil:
		return err
	case job == hypervisor.JobNone:
		return nil
	case !partial(job):
		return change(ctx, m.AbortJob)
	}
	if job, err = currentJob(m); err != nil {
		return err
	}
	if !partial(job) {
		return fmt.Errorf("%w: the copy is complete (job %s): it is left alone", hypervisor.ErrRefused, job)
	}
	// The restore fails when its QEMU ends, and may already have removed the machine.
	if err = change(ctx, m.Destroy); errors.Is(err, hypervisor.ErrNoSuchVM) {
		return nil
	}
	return err
}

// partial reports whether a machine with that job is not complete yet.
func partial(job hypervisor.Job) bool {
	return job == hypervisor.JobRestoring || job == hypervisor.JobIncoming
}

// currentJob returns the current job of a machine. It does not query a machine that is
// incomplete by its state: libvirt answers a query during a restore only after the restore.
func currentJob(m abortable) (hypervisor.Job, error) {
	state, reason, err := m.GetState()
	if err != nil {
		return 0, err
	}
	withAnswer := func(answer hypervisor.Job) hypervisor.Job {
		_, job := copyState(state, libvirt.DomainPausedReason(reason), answer)
		return job
	}
	if job := withAnswer(hypervisor.JobUnknown); partial(job) {
		return job, nil
	}
	answer, err := jobOf(m)
	if err != nil {
		answer.job = hypervisor.JobUnknown
	}
	if answer.gone {
		return 0, fmt.Errorf("%w: it ended", hypervisor.ErrNoSuchVM)
	}
	return withAnswer(answer.job), nil
}
