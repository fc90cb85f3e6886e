//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Calls on the image store reach it, whether a node answers or not, and say what they
// were about when they fail.
func TestCallsOnTheStore(t *testing.T) {
	s, path := newStore(t)
	d := &Driver{store: *s}
	d.files = newFileOps(8, &d.running)
	defer d.running.Wait()
	do := func(ctx context.Context, verb hypervisor.Verb) (hypervisor.Receipt, error) {
		return d.Do(ctx, hypervisor.Call{Verb: verb, Image: first, Attempt: 2})
	}
	receipt, err := do(t.Context(), hypervisor.Seal)
	if err != nil || receipt.Bytes != 4096+192 || !strings.HasPrefix(receipt.Checksum, checksumPrefix) {
		t.Errorf("seal: %+v, %v", receipt, err)
	}
	if _, err := do(t.Context(), hypervisor.Revoke); err != nil {
		t.Error(err)
	}
	if _, err := s.linkForAttempt(path, 2); !errors.Is(err, errRevoked) {
		t.Errorf("an attempt that was revoked: %v", err)
	}
	if _, err := do(t.Context(), hypervisor.Discard); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an image that was discarded: %v", err)
	}
	receipt, err = do(t.Context(), hypervisor.Seal)
	if !errors.Is(err, hypervisor.ErrNoImage) || !strings.Contains(err.Error(), "12.3.g1.a1") || receipt != (hypervisor.Receipt{}) {
		t.Errorf("seal of nothing: %+v, %v", receipt, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	write(t, path, saveFile(magicComplete))
	if _, err := do(ended, hypervisor.Seal); !errors.Is(err, hypervisor.ErrTimeout) {
		t.Errorf("seal after the end of its context: %v", err)
	}
	_, err = d.Do(t.Context(), hypervisor.Call{Verb: hypervisor.Pause, VM: first.VM, Node: "h9"})
	if !errors.Is(err, cluster.ErrNotFound) || !strings.Contains(err.Error(), "12.3 on h9") {
		t.Errorf("a call to an unknown node: %v", err)
	}
}

// fakeTarget is what a call changes: a machine, or the host that a machine is restored on.
type fakeTarget struct {
	state  libvirt.DomainState
	silent error // what the query for its state ends with
	fails  error // what the call ends with
	did    []string
	during func(path string)
}

func (f *fakeTarget) GetState() (libvirt.DomainState, int, error) { return f.state, 0, f.silent }

func (f *fakeTarget) Shutdown() error {
	f.did = append(f.did, "shutdown")
	return f.fails
}

func (f *fakeTarget) SaveFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error {
	f.did = append(f.did, fmt.Sprintf("save %s%s %d", path, xml, flags))
	return f.fails
}

func (f *fakeTarget) DomainRestoreFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error {
	f.did = append(f.did, fmt.Sprintf("restore %s%s %d", path, xml, flags))
	f.during(path)
	return f.fails
}

// A guest that runs is asked to shut down and one that is paused is saved; neither call is
// made for another, nor while its state is not known.
func TestStatesOfCalls(t *testing.T) {
	busy := libvirt.Error{Code: libvirt.ERR_OPERATION_TIMEOUT, Message: "cannot acquire state change lock"}
	shut := func(m *fakeTarget) error { return shutdown(t.Context(), m) }
	save := func(m *fakeTarget) error { return savePaused(t.Context(), m, "/images/1") }
	for _, c := range []struct {
		what string
		call func(*fakeTarget) error
		m    fakeTarget
		did  string
		is   error
	}{
		{"shutdown of one that runs", shut, fakeTarget{state: libvirt.DOMAIN_RUNNING}, "shutdown", nil},
		{"shutdown that is refused", shut, fakeTarget{state: libvirt.DOMAIN_RUNNING, fails: busy}, "shutdown", hypervisor.ErrRefused},
		{"shutdown of one that is paused", shut, fakeTarget{state: libvirt.DOMAIN_PAUSED}, "", hypervisor.ErrRefused},
		{"shutdown of one that does not answer", shut, fakeTarget{silent: busy}, "", busy},
		{"save of one that is paused", save, fakeTarget{state: libvirt.DOMAIN_PAUSED}, "save /images/1 4", nil},
		{"save that is refused", save, fakeTarget{state: libvirt.DOMAIN_PAUSED, fails: busy}, "save /images/1 4", hypervisor.ErrRefused},
		{"save of one that runs", save, fakeTarget{state: libvirt.DOMAIN_RUNNING}, "", hypervisor.ErrRefused},
		{"save of one that does not answer", save, fakeTarget{silent: busy}, "", busy},
	} {
		err := c.call(&c.m)
		if did := strings.Join(c.m.did, ", "); !errors.Is(err, c.is) || did != c.did {
			t.Errorf("%s: did %q, %v; want %q, %v", c.what, did, err, c.did, c.is)
		}
	}
}

// An image is loaded under a link of its own, which is gone when the call has ended; an
// attempt that was revoked loads nothing.
func TestLoad(t *testing.T) {
	s, path := newStore(t)
	link := linkPath(path, 2)
	for _, fails := range []error{nil, libvirt.Error{Message: "Cannot allocate memory"}} {
		host := &fakeTarget{fails: fails, during: func(path string) {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("the image is not there: %v", err)
			}
		}}
		err := s.load(t.Context(), host, path, 2)
		if (fails == nil) != (err == nil) || fails != nil && !errors.Is(err, hypervisor.ErrNoMemory) {
			t.Errorf("%v, want %v", err, fails)
		}
		if got, want := strings.Join(host.did, ", "), "restore "+link+" 4"; got != want {
			t.Errorf("did %q, want %q", got, want)
		}
		if _, err := os.Stat(link); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the link after that: %v", err)
		}
	}
	dies := &fakeTarget{fails: libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "operation failed: domain is not running"}, during: func(string) {}}
	if err := s.load(t.Context(), dies, path, 3); !errors.Is(err, hypervisor.ErrRefused) || errors.Is(err, hypervisor.ErrNoSuchVM) {
		t.Errorf("a machine that ends while it is loaded: %v", err)
	}
	if err := s.revoke(first, 4); err != nil {
		t.Fatal(err)
	}
	host := &fakeTarget{}
	if err := s.load(t.Context(), host, path, 4); !errors.Is(err, errRevoked) || host.did != nil {
		t.Errorf("did %q, %v", host.did, err)
	}
	stays := &fakeTarget{during: func(path string) {
		if err := errors.Join(os.Remove(path), os.MkdirAll(path+"/kept", 0o700)); err != nil {
			t.Error(err)
		}
	}}
	if err := s.load(t.Context(), stays, path, 5); err == nil {
		t.Error("a link that cannot be removed is no error")
	}
}
