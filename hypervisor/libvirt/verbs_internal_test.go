//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Calls on the image store reach it, whether a node answers or not, and say what they
// were about when they fail.
func TestCallsOnTheStore(t *testing.T) {
	s, path := newStore(t)
	d := &Driver{store: *s}
	d.files = newFiles(8, &d.running)
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
	if _, err := s.license(path, 2); !errors.Is(err, errRevoked) {
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
