//go:build libvirt_dlopen && cgo

package libvirt

import (
	"strings"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// condition tells from what libvirt says of a machine what state it is in, and which job
// it has. State and reason come with the listing, which asks no QEMU; job is the answer
// to a question of the same look, [hypervisor.JobUnknown] without one.
//
// The reason counts where it shows that the machine is not whole. libvirt reports no job
// while an image is read: the machine is "paused (starting up)" until the end has been
// read, and "paused (migration)" from then on. A daemon that was killed finds a machine
// in the first state, ends it, and would leave one in the second alone.
//
// An answer that there is no job is newer than the reason, so it settles the others:
// "paused (save)" stays for good where libvirt could not let a machine go on after a
// failed save, and "paused (migration)" after a restore.
func condition(state libvirt.DomainState, reason libvirt.DomainPausedReason, job hypervisor.Job) (hypervisor.CopyState, hypervisor.Job) {
	switch state {
	case libvirt.DOMAIN_SHUTOFF, libvirt.DOMAIN_CRASHED:
		return hypervisor.CopyDead, hypervisor.JobNone // no process is left that could have one
	case libvirt.DOMAIN_PAUSED:
		return hypervisor.CopyPaused, pausedJob(reason, job)
	case libvirt.DOMAIN_PMSUSPENDED:
		return hypervisor.CopyPaused, job
	default: // whatever may execute
		return hypervisor.CopyRunning, job
	}
}

// pausedJob is the job of a paused machine.
func pausedJob(reason libvirt.DomainPausedReason, job hypervisor.Job) hypervisor.Job {
	silent := job == hypervisor.JobUnknown
	switch reason {
	case libvirt.DOMAIN_PAUSED_STARTING_UP: // it boots, is restored or comes in
		if job == hypervisor.JobIncoming {
			return hypervisor.JobIncoming
		}
		return hypervisor.JobRestoring
	case libvirt.DOMAIN_PAUSED_SAVE:
		if silent {
			return hypervisor.JobSaving
		}
	case libvirt.DOMAIN_PAUSED_POSTCOPY, libvirt.DOMAIN_PAUSED_POSTCOPY_FAILED:
		// Its memory is on two nodes. We never ask for that, and nothing tells how it ends.
		if job == hypervisor.JobNone {
			return hypervisor.JobUnknown
		}
	default: // the reason tells nothing of jobs: "paused (user)" is a copy that stands, or is being saved
	}
	return job
}

// jobAnswer is the job of a machine, or that there is no machine any more.
type jobAnswer struct {
	job  hypervisor.Job
	gone bool
	cap  *cluster.MilliCPU // nil: it was not asked for
}

// jobOf asks for the job under way on a machine. An error says that nothing is known.
func jobOf(m abortable) (jobAnswer, error) {
	info, err := m.GetJobStats(0)
	if err != nil {
		return jobByError(err)
	}
	return jobAnswer{job: jobByStats(info.Type, info.Operation)}, nil
}

// jobByError reads an answer out of the errors that are one.
func jobByError(err error) (jobAnswer, error) {
	switch {
	case hasCode(err, libvirt.ERR_NO_DOMAIN),
		hasCode(err, libvirt.ERR_OPERATION_INVALID) && strings.Contains(err.Error(), "domain is not running"):
		return jobAnswer{gone: true}, nil
	case hasCode(err, libvirt.ERR_OPERATION_UNSUPPORTED): // "migration statistics are available only on the source host"
		return jobAnswer{job: hypervisor.JobIncoming}, nil
	default:
		return jobAnswer{}, err
	}
}

func jobByStats(kind libvirt.DomainJobType, operation libvirt.DomainJobOperationType) hypervisor.Job {
	if kind == libvirt.DOMAIN_JOB_NONE {
		return hypervisor.JobNone
	}
	switch operation {
	case libvirt.DOMAIN_JOB_OPERATION_MIGRATION_IN:
		return hypervisor.JobIncoming
	case libvirt.DOMAIN_JOB_OPERATION_MIGRATION_OUT:
		return hypervisor.JobOutgoing
	case libvirt.DOMAIN_JOB_OPERATION_RESTORE, libvirt.DOMAIN_JOB_OPERATION_START, libvirt.DOMAIN_JOB_OPERATION_SNAPSHOT_REVERT:
		return hypervisor.JobRestoring
	default: // save, and whatever else is done to it by hand
		return hypervisor.JobSaving
	}
}
