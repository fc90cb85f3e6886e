//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"testing"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// A copy that is incomplete never passes for one that stands, and a query without an
// answer never for "no job".
func TestCopyState(t *testing.T) {
	const (
		none, unknown = hypervisor.JobNone, hypervisor.JobUnknown
		incoming      = hypervisor.JobIncoming
		outgoing      = hypervisor.JobOutgoing
		restoring     = hypervisor.JobRestoring
		saving        = hypervisor.JobSaving
		paused        = libvirt.DOMAIN_PAUSED
	)
	tests := []struct {
		what   string
		state  libvirt.DomainState
		reason libvirt.DomainPausedReason
		answer hypervisor.Job
		copy   hypervisor.CopyState
		job    hypervisor.Job
	}{
		{"stands", paused, libvirt.DOMAIN_PAUSED_USER, none, hypervisor.CopyPaused, none},
		{"stands, no answer", paused, libvirt.DOMAIN_PAUSED_USER, unknown, hypervisor.CopyPaused, unknown},
		{"stands and is saved", paused, libvirt.DOMAIN_PAUSED_USER, saving, hypervisor.CopyPaused, saving},
		{"stands and leaves", paused, libvirt.DOMAIN_PAUSED_USER, outgoing, hypervisor.CopyPaused, outgoing},
		{"its image is read", paused, libvirt.DOMAIN_PAUSED_STARTING_UP, none, hypervisor.CopyPaused, restoring},
		{"its image is read, no answer", paused, libvirt.DOMAIN_PAUSED_STARTING_UP, unknown, hypervisor.CopyPaused, restoring},
		{"its image is read, and libvirt says so", paused, libvirt.DOMAIN_PAUSED_STARTING_UP, restoring, hypervisor.CopyPaused, restoring},
		{"begins to come in", paused, libvirt.DOMAIN_PAUSED_STARTING_UP, incoming, hypervisor.CopyPaused, incoming},
		{"comes in", paused, libvirt.DOMAIN_PAUSED_MIGRATION, incoming, hypervisor.CopyPaused, incoming},
		{"restored, or leaves, or comes in: no answer", paused, libvirt.DOMAIN_PAUSED_MIGRATION, unknown, hypervisor.CopyPaused, unknown},
		{"restored", paused, libvirt.DOMAIN_PAUSED_MIGRATION, none, hypervisor.CopyPaused, none},
		{"saved while it ran, no answer", paused, libvirt.DOMAIN_PAUSED_SAVE, unknown, hypervisor.CopyPaused, saving},
		{"a save failed, and it could not go on", paused, libvirt.DOMAIN_PAUSED_SAVE, none, hypervisor.CopyPaused, none},
		{"memory on two nodes", paused, libvirt.DOMAIN_PAUSED_POSTCOPY_FAILED, none, hypervisor.CopyPaused, unknown},
		{"memory on two nodes, under way", paused, libvirt.DOMAIN_PAUSED_POSTCOPY, incoming, hypervisor.CopyPaused, incoming},
		{"memory on two nodes, and it leaves", paused, libvirt.DOMAIN_PAUSED_POSTCOPY, none, hypervisor.CopyPaused, unknown},
		{"asleep", libvirt.DOMAIN_PMSUSPENDED, 0, none, hypervisor.CopyPaused, none},
		{"asleep, no answer", libvirt.DOMAIN_PMSUSPENDED, 0, unknown, hypervisor.CopyPaused, unknown},
		{"runs", libvirt.DOMAIN_RUNNING, 0, none, hypervisor.CopyRunning, none},
		{"runs, no answer", libvirt.DOMAIN_RUNNING, 0, unknown, hypervisor.CopyRunning, unknown},
		{"runs; the number is no reason to be paused", libvirt.DOMAIN_RUNNING, libvirt.DOMAIN_PAUSED_STARTING_UP, none, hypervisor.CopyRunning, none},
		{"may run", libvirt.DOMAIN_NOSTATE, 0, none, hypervisor.CopyRunning, none},
		{"shuts down", libvirt.DOMAIN_SHUTDOWN, 0, unknown, hypervisor.CopyRunning, unknown},
		{"shut off", libvirt.DOMAIN_SHUTOFF, 0, unknown, hypervisor.CopyDead, none},
		{"crashed", libvirt.DOMAIN_CRASHED, 0, unknown, hypervisor.CopyDead, none},
	}
	for _, tt := range tests {
		state, job := copyState(tt.state, tt.reason, tt.answer)
		if state != tt.copy || job != tt.job {
			t.Errorf("%s: %s, job %s; want %s, job %s", tt.what, state, job, tt.copy, tt.job)
		}
	}
}

func TestJobAnswers(t *testing.T) {
	tests := []struct {
		code    libvirt.ErrorNumber
		message string
		want    jobAnswer
		failed  bool
	}{
		{libvirt.ERR_NO_DOMAIN, "Domain not found", jobAnswer{gone: true}, false},
		{libvirt.ERR_OPERATION_INVALID, "Requested operation is not valid: domain is not running", jobAnswer{gone: true}, false},
		{libvirt.ERR_OPERATION_INVALID, "Requested operation is not valid: something else", jobAnswer{}, true},
		{libvirt.ERR_OPERATION_UNSUPPORTED, "migration statistics are available only on the source host", jobAnswer{job: hypervisor.JobIncoming}, false},
		{libvirt.ERR_OPERATION_TIMEOUT, "cannot acquire state change lock", jobAnswer{}, true},
		{libvirt.ERR_INTERNAL_ERROR, "the agent of a domain is not running", jobAnswer{}, true},
		{libvirt.ERR_INTERNAL_ERROR, "client socket is closed", jobAnswer{}, true},
	}
	for _, tt := range tests {
		got, err := jobByError(libvirt.Error{Code: tt.code, Message: tt.message})
		if got != tt.want || (err != nil) != tt.failed {
			t.Errorf("%s: %+v, %v; want %+v, failed %t", tt.message, got, err, tt.want, tt.failed)
		}
	}
	f := listedMachine{job: hypervisor.JobUnknown}
	f.setAnswer(jobAnswer{}, false) // the query failed
	if f.job != hypervisor.JobUnknown {
		t.Errorf("after a query without an answer: job %s", f.job)
	}
	if _, err := jobByError(errors.New("not of libvirt")); err == nil {
		t.Error("an error of ours is taken for an answer")
	}
}

// An unknown kind of job counts as a save: the machine is busy and complete.
func TestJobStats(t *testing.T) {
	const unbounded = libvirt.DOMAIN_JOB_UNBOUNDED
	for _, tt := range []struct {
		kind      libvirt.DomainJobType
		operation libvirt.DomainJobOperationType
		want      hypervisor.Job
	}{
		{libvirt.DOMAIN_JOB_NONE, libvirt.DOMAIN_JOB_OPERATION_SAVE, hypervisor.JobNone},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_MIGRATION_IN, hypervisor.JobIncoming},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_MIGRATION_OUT, hypervisor.JobOutgoing},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_RESTORE, hypervisor.JobRestoring},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_START, hypervisor.JobRestoring},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_SNAPSHOT_REVERT, hypervisor.JobRestoring},
		{unbounded, libvirt.DOMAIN_JOB_OPERATION_SAVE, hypervisor.JobSaving},
		{libvirt.DOMAIN_JOB_BOUNDED, libvirt.DOMAIN_JOB_OPERATION_DUMP, hypervisor.JobSaving},
	} {
		m := &fakeMachine{at: 1, moments: []moment{{job: tt.kind, op: tt.operation}}}
		if got, err := jobOf(m); err != nil || got != (jobAnswer{job: tt.want}) {
			t.Errorf("job %d, operation %d: %+v, %v; want %s", tt.kind, tt.operation, got, err, tt.want)
		}
	}
}

// A query that is still open is not asked again, and of machines that are loading one
// is asked: libvirt answers when they are whole.
func TestOneQueryAtATime(t *testing.T) {
	m := newCache()
	if !m.beginQuery("a", false) || m.beginQuery("a", false) {
		t.Error("a machine is asked twice, or never")
	}
	m.endQuery("a")
	if !m.beginQuery("a", true) || m.beginQuery("b", true) || !m.beginQuery("c", false) {
		t.Error("one machine that is loading, and any other, may be asked")
	}
	m.endQuery("c")
	if m.beginQuery("b", true) {
		t.Error("the end of another query lets a second machine be asked that is loading")
	}
	m.endQuery("a")
	if !m.beginQuery("b", true) {
		t.Error("no machine that is loading is asked any more")
	}
	m.endQuery("gone") // it ended meanwhile
	m = newCache()
	if !m.beginQuery("a", false) {
		t.Error("a machine that is new may not be asked")
	}
	m.expire(time.Now())
	m.recordListed(&listedMachine{uuid: "a", id: 7, identity: ourMachine, copy: hypervisor.Copy{}}, time.Now())
	if m.beginQuery("a", false) {
		t.Error("a machine is asked once more after it was listed")
	}
}
