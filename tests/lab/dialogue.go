//go:build libvirt_dlopen

package lab

import (
	"encoding/binary"
	"fmt"
	"sync"

	"libvirt.org/go/libvirt"
)

// dialogue watches the messages between a libvirt client and its daemon on one connection.
// Clients before 10.4 have a fault (CVE-2024-4418): after a keepalive probe during a pending
// call, the next call on the connection can fail. So the driver makes no calls on a probed
// connection, except those that close it.
type dialogue struct {
	complain func(string)
	probed   bool
}

// headerBytes is the size of the header of a libvirt message: its length, then the fields of
// message.
const headerBytes = 28

// Constants of libvirt's protocol.
const (
	keepaliveProgram = 0x6b656570
	pingProcedure    = 1

	callType        = 0
	callWithFDsType = 4

	closeProcedure      = 2
	deregisterProcedure = 317
)

type message struct{ program, procedure, kind uint32 }

func (d *dialogue) asked(m message) {
	switch {
	case m.program == keepaliveProgram:
		d.probed = d.probed || m.procedure == pingProcedure
	case m.kind != callType && m.kind != callWithFDsType:
	case d.probed && m.procedure != closeProcedure && m.procedure != deregisterProcedure && leavesSources():
		d.complain(fmt.Sprintf("a call, procedure %d, on a connection that is probed", m.procedure))
	}
}

var leavesSources = sync.OnceValue(func() bool {
	version, err := libvirt.GetVersion()
	return err == nil && version < 10_004_000
})

// messageReader splits a stream into messages. It is an io.Writer that never fails.
type messageReader struct {
	handle func(message)
	header []byte
	skip   int // bytes that are left of the current message
}

func (r *messageReader) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(p))
			r.skip, p = r.skip-n, p[n:]
			continue
		}
		n := min(headerBytes-len(r.header), len(p))
		r.header, p = append(r.header, p[:n]...), p[n:]
		if len(r.header) == headerBytes {
			word := func(i int) uint32 { return binary.BigEndian.Uint32(r.header[4*i:]) }
			r.handle(message{program: word(1), procedure: word(3), kind: word(4)})
			r.skip, r.header = int(word(0))-headerBytes, r.header[:0]
		}
	}
	return total, nil
}
