//go:build libvirt_dlopen && cgo

package libvirt

import (
	"strings"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// copyState derives the state and the job of a copy from what libvirt reports. State and reason
// come with the listing, which does not query QEMU; job is the answer to a query of the same
// look, [hypervisor.JobUnknown] without an answer.
//
// The reason counts if it shows that the machine is incomplete. libvirt reports no job while an
// image is read: the machine is "paused (starting up)" until the image has been read to its end,
// and "paused (migration)" from then on. A daemon that restarts ends a machine in the first
// state and leaves one in the second alone.
//
// An answer that there is no job is newer than the other reasons and overrides them: "paused
// (save)" stays for ever if libvirt could not resume a machine after a failed save, and "paused
// (migration)" after a restore.
func copyState(state libvirt.DomainState, reason libvirt.DomainPausedReason, job hypervisor.Job) (hypervisor.CopyState, hypervisor.Job) {
	switch state {
	case libvirt.DOMAIN_SHUTOFF, libvirt.DOMAIN_CRASHED:
		return hypervisor.CopyDead, hypervisor.JobNone // its process is gone
	case libvirt.DOMAIN_PAUSED:
		return hypervisor.CopyPaused, pausedJob(reason, job)
	case libvirt.DOMAIN_PMSUSPENDED:
		return hypervisor.CopyPaused, job
	default: // all states in which it may execute
		return hypervisor.CopyRunning, job
	}
}

// pausedJob is the job of a paused machine.
func pausedJob(reason libvirt.DomainPausedReason, job hypervisor.Job) hypervisor.Job {
	silent := job == hypervisor.JobUnknown
	switch reason {
	case libvirt.DOMAIN_PAUSED_STARTING_UP: // booting, being restored or migrated in
		if job == hypervisor.JobIncoming {
			return hypervisor.JobIncoming
		}
		return hypervisor.JobRestoring
	case libvirt.DOMAIN_PAUSED_SAVE:
		if silent {
			return hypervisor.JobSaving
		}
	case libvirt.DOMAIN_PAUSED_POSTCOPY, libvirt.DOMAIN_PAUSED_POSTCOPY_FAILED:
		// Its memory is on two nodes. vjob never starts post-copy, and nothing tells how it ends.
		if job == hypervisor.JobNone {
			return hypervisor.JobUnknown
		}
	default: // the reason tells nothing about jobs: a copy in "paused (user)" may be being saved
	}
	return job
}

// jobAnswer is the answer to a query: the job of a machine, or that the machine is gone.
type jobAnswer struct {
	job    hypervisor.Job
	gone   bool
	tuning *tuning // nil if it was not queried
	sample *sample // nil if it was not queried
}

// jobOf queries the job of a machine. After an error the job is unknown.
func jobOf(m abortable) (jobAnswer, error) {
	info, err := m.GetJobStats(0)
	if err != nil {
		return jobByError(err)
	}
	return jobAnswer{job: jobByStats(info.Type, info.Operation)}, nil
}

// jobByError returns the answer that some errors imply, or the error.
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
	default: // save, and whatever an administrator does by hand
		return hypervisor.JobSaving
	}
}
