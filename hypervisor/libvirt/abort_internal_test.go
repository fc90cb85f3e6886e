//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"strings"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// fakeMachine is at the next of its moments with each query for its state, and stays at
// the last one.
type fakeMachine struct {
	moments []moment
	at      int   // how many times its state was asked for
	silent  int   // at that query for its state it does not answer; 0: never
	stuck   error // what an abort of its job ends with
	did     []string
}

type moment struct {
	reason libvirt.DomainPausedReason
	job    libvirt.DomainJobType
	op     libvirt.DomainJobOperationType
	err    error // of the query for the job
}

func (m *fakeMachine) now() moment { return m.moments[min(m.at, len(m.moments))-1] }

func (m *fakeMachine) GetState() (libvirt.DomainState, int, error) {
	if m.at++; m.at == m.silent {
		return 0, 0, libvirt.Error{Code: libvirt.ERR_INTERNAL_ERROR, Message: "client socket is closed"}
	}
	return libvirt.DOMAIN_PAUSED, int(m.now().reason), nil
}

func (m *fakeMachine) GetJobStats(flags libvirt.DomainGetJobStatsFlags) (*libvirt.DomainJobInfo, error) {
	if flags != 0 {
		return nil, errors.New("what was asked for is not the job under way")
	}
	now := m.now()
	if now.reason == libvirt.DOMAIN_PAUSED_STARTING_UP { // libvirt answers when that has ended
		m.at = len(m.moments)
	}
	return &libvirt.DomainJobInfo{Type: now.job, Operation: now.op}, now.err
}

func (m *fakeMachine) AbortJob() error { m.did = append(m.did, "abort"); return m.stuck }

// Destroy says what libvirt says when the restore has removed the machine first.
func (m *fakeMachine) Destroy() error {
	m.did = append(m.did, "destroy")
	return libvirt.Error{Code: libvirt.ERR_NO_DOMAIN, Message: "Domain not found"}
}

// libvirt aborts no restore and no incoming migration: the copy is destroyed, and only
// while it is incomplete.
func TestAbort(t *testing.T) {
	loading := moment{reason: libvirt.DOMAIN_PAUSED_STARTING_UP}
	whole := moment{reason: libvirt.DOMAIN_PAUSED_MIGRATION}
	coming := moment{reason: libvirt.DOMAIN_PAUSED_MIGRATION, err: libvirt.Error{Code: libvirt.ERR_OPERATION_UNSUPPORTED}}
	silent := libvirt.Error{Code: libvirt.ERR_OPERATION_TIMEOUT, Message: "cannot acquire state change lock"}
	saving := moment{
		reason: libvirt.DOMAIN_PAUSED_USER, job: libvirt.DOMAIN_JOB_UNBOUNDED, op: libvirt.DOMAIN_JOB_OPERATION_SAVE,
	}
	tests := []struct {
		what    string
		moments []moment
		did     string
		is      error
	}{
		{"no job", []moment{whole}, "", nil},
		{"a save", []moment{saving}, "abort", nil},
		{"a restore", []moment{loading}, "destroy", nil},
		{"a restore, while a question would wait for its end", []moment{loading, loading, whole}, "destroy", nil},
		{"a restore that ends meanwhile", []moment{loading, whole}, "", hypervisor.ErrRefused},
		{"an incoming migration", []moment{coming}, "destroy", nil},
		{"an incoming migration that ends meanwhile", []moment{coming, {reason: libvirt.DOMAIN_PAUSED_USER}}, "", hypervisor.ErrRefused},
		{"an incoming migration, then no answer", []moment{coming, {reason: libvirt.DOMAIN_PAUSED_MIGRATION, err: silent}}, "", hypervisor.ErrRefused},
		{"no answer", []moment{{reason: libvirt.DOMAIN_PAUSED_USER, err: silent}}, "abort", nil},
		{"a copy that is gone", []moment{{err: libvirt.Error{Code: libvirt.ERR_NO_DOMAIN}}}, "", hypervisor.ErrNoSuchVM},
	}
	for _, tt := range tests {
		m := &fakeMachine{moments: tt.moments}
		err := abort(t.Context(), m)
		if did := strings.Join(m.did, " "); did != tt.did || !errors.Is(err, tt.is) {
			t.Errorf("%s: did %q, %v; want %q, %v", tt.what, did, err, tt.did, tt.is)
		}
	}
	for silent, moments := range map[int][]moment{1: {saving}, 2: {loading, loading}} {
		m := &fakeMachine{moments: moments, silent: silent}
		if err := abort(t.Context(), m); err == nil || errors.Is(err, hypervisor.ErrRefused) || m.did != nil {
			t.Errorf("without an answer to query %d for its state: did %q, %v", silent, m.did, err)
		}
	}
	stuck := &fakeMachine{moments: []moment{saving}, stuck: libvirt.Error{Code: libvirt.ERR_OPERATION_INVALID, Message: "no job is active"}}
	if err := abort(t.Context(), stuck); !errors.Is(err, hypervisor.ErrRefused) {
		t.Errorf("a job that cannot be aborted: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := &fakeMachine{moments: []moment{loading}}
	if err := abort(ended, m); !errors.Is(err, hypervisor.ErrTimeout) || m.did != nil {
		t.Errorf("after the context's end: did %q, %v", m.did, err)
	}
}
