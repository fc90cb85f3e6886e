//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"testing"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// The messages are those of libvirt 9.0 and QEMU 7.2.
func TestTranslate(t *testing.T) {
	const monitor = "internal error: qemu unexpectedly closed the monitor: 2026-11-20T10:00:00Z qemu-system-x86_64: "
	tests := []struct {
		code    libvirt.ErrorNumber
		from    libvirt.ErrorDomain
		message string
		is      error
	}{
		// A hypervisor that does not load an image says nothing of the image.
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + "Machine type received is 'pc-i440fx-7.2' and local is 'pc-i440fx-6.2'\n" +
			"qemu-system-x86_64: load of migration failed: Invalid argument", hypervisor.ErrRefused},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + "load of migration failed: Input/output error", hypervisor.ErrRefused},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + "error while loading state for instance 0x0 of device 'cpu'\n" +
			"qemu-system-x86_64: load of migration failed: Operation not permitted", hypervisor.ErrRefused},
		{
			libvirt.ERR_CONFIG_UNSUPPORTED, libvirt.FROM_CPU,
			"unsupported configuration: guest CPU doesn't match specification: missing features: avx2", hypervisor.ErrRefused,
		},
		{
			libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU,
			"operation failed: guest CPU doesn't match specification: extra features: hypervisor", hypervisor.ErrRefused,
		},
		{libvirt.ERR_CPU_INCOMPATIBLE, libvirt.FROM_CPU, "the CPU is incompatible with host CPU: Host CPU does not provide required features: svm", hypervisor.ErrRefused},
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: image version is not supported (3 > 2)", hypervisor.ErrRefused},
		// The beginning of the file was read: its save did not finish, or it is no image.
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: save image is incomplete", hypervisor.ErrBadImage},
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: image magic is incorrect", hypervisor.ErrBadImage},
		// It could not be read: too short and an I/O error have one message.
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: failed to read qemu header", hypervisor.ErrNoImage},
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: failed to read domain XML", hypervisor.ErrNoImage},
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: failed to read cookie", hypervisor.ErrNoImage},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "Failed to open file '/images/h1/1.0.g1.a1.r1': No such file or directory", hypervisor.ErrNoImage},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "Failed to open file '/images/h1/1.0.g1.a1.r1': Stale file handle", hypervisor.ErrNoImage},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "Failed to open file '/images/h1/1.0.g1.a1.r1': Permission denied", hypervisor.ErrNoImage},

		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: /usr/lib/libvirt/libvirt_iohelper: Unable to write /i: No space left on device", hypervisor.ErrNoSpace},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + "cannot set up guest memory 'pc.ram': Cannot allocate memory", hypervisor.ErrNoMemory},
		{libvirt.ERR_RESOURCE_BUSY, libvirt.FROM_LOCKING, "resource busy: Lockspace resource 'vjob-1-0' is locked", hypervisor.ErrLocked},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + `Failed to get "write" lock`, hypervisor.ErrLocked},
		{libvirt.ERR_NO_DOMAIN, libvirt.FROM_QEMU, "Domain not found: no domain with matching name 'vjob-1-0'", hypervisor.ErrNoSuchVM},
		{libvirt.ERR_OPERATION_INVALID, libvirt.FROM_QEMU, "Requested operation is not valid: domain 'vjob-1-0' is already active", hypervisor.ErrExists},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_RPC, "internal error: client socket is closed", hypervisor.ErrUnreachable},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_RPC, "internal error: connection closed due to keepalive timeout", hypervisor.ErrUnreachable},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_RPC, "End of file while reading data: Input/output error", hypervisor.ErrUnreachable},
		{libvirt.ERR_OPERATION_TIMEOUT, libvirt.FROM_QEMU, "Timed out during operation: cannot acquire state change lock", hypervisor.ErrRefused},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, "something new", hypervisor.ErrRefused},

		// A row counts by its text or its code alone.
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: Unable to write /i: Disk quota exceeded", hypervisor.ErrNoSpace},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_QEMU, monitor + "cannot set up guest memory 'pc.ram': Resource unavailable", hypervisor.ErrNoMemory},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "cannot fork child process: Cannot allocate memory", hypervisor.ErrNoMemory},
		{libvirt.ERR_RESOURCE_BUSY, libvirt.FROM_LOCKING, "resource busy: the lockspace is in use", hypervisor.ErrLocked},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_LOCKING, "the resource is locked by another owner", hypervisor.ErrLocked},
		{libvirt.ERR_OPERATION_INVALID, libvirt.FROM_QEMU, "Requested operation is not valid: domain is not running", hypervisor.ErrNoSuchVM},
		{libvirt.ERR_DOM_EXIST, libvirt.FROM_QEMU, "this domain has that UUID", hypervisor.ErrExists},
		{libvirt.ERR_OPERATION_FAILED, libvirt.FROM_QEMU, "operation failed: domain 'vjob-1-0' already exists with uuid 1", hypervisor.ErrExists},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_NONE, "internal error: client socket is closed", hypervisor.ErrUnreachable},
		{libvirt.ERR_INTERNAL_ERROR, libvirt.FROM_NONE, "internal error: connection closed due to keepalive timeout", hypervisor.ErrUnreachable},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "unable to connect to socket: Connection refused", hypervisor.ErrUnreachable},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "unable to connect to socket: No route to host", hypervisor.ErrUnreachable},
		{libvirt.ERR_SYSTEM_ERROR, libvirt.FROM_QEMU, "unable to connect to server at 'h2:16514': Connection timed out", hypervisor.ErrUnreachable},
	}
	all := []error{
		hypervisor.ErrBadImage, hypervisor.ErrNoImage, hypervisor.ErrRefused, hypervisor.ErrNoSpace, hypervisor.ErrNoMemory,
		hypervisor.ErrLocked, hypervisor.ErrNoSuchVM, hypervisor.ErrExists, hypervisor.ErrUnreachable,
	}
	for _, tt := range tests {
		err := translate(libvirt.Error{Code: tt.code, Domain: tt.from, Message: tt.message})
		for _, e := range all {
			if errors.Is(err, e) != (e == tt.is) { //nolint:errorlint // the very one
				t.Errorf("%s\nis %v; want %v", tt.message, err, tt.is)
			}
		}
	}
}

// What is not libvirt's stays as it is.
func TestTranslateLeavesOthers(t *testing.T) {
	if err := translate(context.Canceled); err != context.Canceled { //nolint:errorlint // the very one
		t.Errorf("another error becomes %v", err)
	}
}

// A call that the host may have taken differs from one that was never sent.
func TestChange(t *testing.T) {
	lost := libvirt.Error{Code: libvirt.ERR_INTERNAL_ERROR, Domain: libvirt.FROM_RPC, Message: "client socket is closed"}
	if err := change(t.Context(), func() error { return lost }); !errors.Is(err, hypervisor.ErrTimeout) || !errors.Is(err, hypervisor.ErrUnreachable) {
		t.Errorf("a connection that broke during the call: %v", err)
	}
	if !errors.Is(errLost, hypervisor.ErrTimeout) || !errors.Is(errLost, hypervisor.ErrUnreachable) {
		t.Errorf("a node that was given up during the call: %v", errLost)
	}
	refused := libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "no"}
	if err := change(t.Context(), func() error { return refused }); !errors.Is(err, hypervisor.ErrRefused) || errors.Is(err, hypervisor.ErrTimeout) {
		t.Errorf("a refusal: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	sent := false
	if err := change(ended, func() error { sent = true; return nil }); sent || !errors.Is(err, hypervisor.ErrTimeout) {
		t.Errorf("after the context's end: sent %t, %v", sent, err)
	}
}

// A host gets no further call while all its connections are busy.
func TestNotSent(t *testing.T) {
	r := newConnPool("test:///default", 1, Timeouts{}, nil)
	l, err := r.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.take(ended)
	if !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, hypervisor.ErrTimeout) {
		t.Errorf("a call that waits for a connection: %v", err)
	}
	r.put(l)
}
