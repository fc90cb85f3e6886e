//go:build libvirt_dlopen

package lab

import (
	"encoding/binary"
	"fmt"
	"sync"

	"libvirt.org/go/libvirt"
)

// dialogue listens to what a client and a daemon of libvirt say on one connection, for
// the fault of clients before 10.4 (CVE-2024-4418): when a probe is sent while a call
// waits for its answer, the next call on that connection is a danger. So whoever probes
// a connection makes no more calls on it, but for those by which it ends.
type dialogue struct {
	complain func(string)
	probed   bool
}

// What libvirt's messages begin with: the size of all, and then the fields of message.
const headerBytes = 28

// What matters of libvirt's protocol.
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

// ear splits what goes by into messages. It is an io.Writer that never fails.
type ear struct {
	hear   func(message)
	header []byte
	skip   int // what is left of the message whose header was heard
}

func (e *ear) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if e.skip > 0 {
			n := min(e.skip, len(p))
			e.skip, p = e.skip-n, p[n:]
			continue
		}
		n := min(headerBytes-len(e.header), len(p))
		e.header, p = append(e.header, p[:n]...), p[n:]
		if len(e.header) == headerBytes {
			word := func(i int) uint32 { return binary.BigEndian.Uint32(e.header[4*i:]) }
			e.hear(message{program: word(1), procedure: word(3), kind: word(4)})
			e.skip, e.header = int(word(0))-headerBytes, e.header[:0]
		}
	}
	return total, nil
}
