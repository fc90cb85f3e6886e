//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"fmt"
	"strings"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// sentinels maps errors of libvirt to those of package hypervisor. The first row that matches
// in code (0: any), domain (0: any) and text counts. libvirt has few codes, so the text often
// tells more; the texts are those of libvirt 9 and QEMU 7.2.
var sentinels = []struct {
	code libvirt.ErrorNumber
	from libvirt.ErrorDomain
	text string
	is   error
}{
	{text: "No space left on device", is: hypervisor.ErrNoSpace},
	{text: "Disk quota exceeded", is: hypervisor.ErrNoSpace},
	{text: "Cannot allocate memory", is: hypervisor.ErrNoMemory},
	{text: "cannot set up guest memory", is: hypervisor.ErrNoMemory},
	{code: libvirt.ERR_RESOURCE_BUSY, is: hypervisor.ErrLocked},
	{text: "is locked", is: hypervisor.ErrLocked},
	{text: `"write" lock`, is: hypervisor.ErrLocked},
	{code: libvirt.ERR_NO_DOMAIN, is: hypervisor.ErrNoSuchVM},
	{text: "domain is not running", is: hypervisor.ErrNoSuchVM},
	{code: libvirt.ERR_DOM_EXIST, is: hypervisor.ErrExists},
	{text: "already exists", is: hypervisor.ErrExists},
	{text: "already active", is: hypervisor.ErrExists},
	// An error of QEMU while it loads an image may be the fault of the node: its machine types,
	// its CPU, an I/O error. Only the checksum tells whether the image is good.
	{text: "load of migration failed", is: hypervisor.ErrRefused},
	{text: "save image is incomplete", is: hypervisor.ErrBadImage},
	{text: "image magic is incorrect", is: hypervisor.ErrBadImage},
	// One message for a file that is too short and for an I/O error.
	{text: "failed to read qemu header", is: hypervisor.ErrNoImage},
	{text: "failed to read domain XML", is: hypervisor.ErrNoImage},
	{text: "failed to read cookie", is: hypervisor.ErrNoImage},
	{code: libvirt.ERR_SYSTEM_ERROR, text: "Failed to open file", is: hypervisor.ErrNoImage},
	{from: libvirt.FROM_RPC, is: hypervisor.ErrUnreachable},
	{text: "client socket is closed", is: hypervisor.ErrUnreachable},
	{text: "keepalive timeout", is: hypervisor.ErrUnreachable},
	{text: "Connection refused", is: hypervisor.ErrUnreachable},
	{text: "No route to host", is: hypervisor.ErrUnreachable},
	{text: "unable to connect to server", is: hypervisor.ErrUnreachable},
}

// translate wraps the text of a libvirt error with the sentinel that fits it. An error that is
// not in the table is a refusal, such as "cannot acquire state change lock".
func translate(err error) error {
	var e libvirt.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, s := range sentinels {
		if (s.code == 0 || s.code == e.Code) && (s.from == 0 || s.from == e.Domain) && strings.Contains(e.Message, s.text) {
			return fmt.Errorf("%w: %s", s.is, e.Message)
		}
	}
	return fmt.Errorf("%w: %s", hypervisor.ErrRefused, e.Message)
}

// hasCode reports whether err is a libvirt error with that code.
func hasCode(err error, code libvirt.ErrorNumber) bool {
	var e libvirt.Error
	return errors.As(err, &e) && e.Code == code
}
