//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// abortable is what an abort needs of a machine: a [libvirt.Domain].
type abortable interface {
	GetState() (libvirt.DomainState, int, error)
	GetJobStats(flags libvirt.DomainGetJobStatsFlags) (*libvirt.DomainJobInfo, error)
	AbortJob() error
	Destroy() error
}

// abort cancels the job of a machine; none to cancel is fine. libvirt cannot abort the
// job of a machine that is restored or comes in, so such a machine is destroyed.
//
// One that comes in may become whole between the last look here and the end of Destroy,
// if its source still sends it: callers abort on that end only when the source has no
// outgoing job. After a restore there is still the image.
func abort(ctx context.Context, m abortable) error {
	job, err := jobNow(m)
	switch {
	case err != nil:
		return err
	case job == hypervisor.JobNone:
		return nil
	case !partial(job):
		return change(ctx, m.AbortJob)
	}
	if job, err = jobNow(m); err != nil {
		return err
	}
	if !partial(job) {
		return fmt.Errorf("%w: the copy has become whole (job %s): it is left alone", hypervisor.ErrRefused, job)
	}
	// The restore fails when its QEMU ends, and may have removed the machine by then.
	if err = change(ctx, m.Destroy); errors.Is(err, hypervisor.ErrNoSuchVM) {
		return nil
	}
	return err
}

// partial reports whether a machine with that job is not whole yet.
func partial(job hypervisor.Job) bool {
	return job == hypervisor.JobRestoring || job == hypervisor.JobIncoming
}

// jobNow is the job of a machine at this moment. Where the state tells that it is not
// whole it is not asked: libvirt answers a question about a restore when that has ended.
func jobNow(m abortable) (hypervisor.Job, error) {
	state, reason, err := m.GetState()
	if err != nil {
		return 0, err
	}
	told := func(answer hypervisor.Job) hypervisor.Job {
		_, job := condition(state, libvirt.DomainPausedReason(reason), answer)
		return job
	}
	if job := told(hypervisor.JobUnknown); partial(job) {
		return job, nil
	}
	answer, err := jobOf(m)
	if err != nil {
		answer.job = hypervisor.JobUnknown
	}
	if answer.gone {
		return 0, fmt.Errorf("%w: it ended", hypervisor.ErrNoSuchVM)
	}
	return told(answer.job), nil
}
