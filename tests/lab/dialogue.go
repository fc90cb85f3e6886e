//go:build libvirt_dlopen

package lab

import (
	"encoding/binary"
	"sync"

	"libvirt.org/go/libvirt"
)

// dialogue listens to what a client and a daemon of libvirt say on one connection, for
// the fault of clients before 10.4 (CVE-2024-4418): a probe that is sent while a call
// waits for its answer makes the next call on that connection a danger.
type dialogue struct {
	complain func(string)

	mu     sync.Mutex
	calls  map[uint32]bool // those that wait for an answer, by their serial number
	probed bool            // while one did
}

func newDialogue(complain func(string)) *dialogue {
	return &dialogue{complain: complain, calls: map[uint32]bool{}}
}

// What libvirt's messages begin with: the size of all, and then the fields of message.
const headerBytes = 28

// The kinds of message that matter, from libvirt's protocol.
const (
	keepaliveProgram = 0x6b656570
	pingProcedure    = 1

	callType         = 0
	replyType        = 1
	callWithFDsType  = 4
	replyWithFDsType = 5
)

type message struct{ program, procedure, kind, serial uint32 }

func (d *dialogue) asked(m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case m.program == keepaliveProgram:
		d.probed = d.probed || m.procedure == pingProcedure && len(d.calls) > 0
	case m.kind == callType, m.kind == callWithFDsType:
		if d.probed && leavesSources() {
			d.complain("a call on a connection that was probed under a call before")
		}
		d.calls[m.serial] = true
	}
}

func (d *dialogue) answered(m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.program != keepaliveProgram && (m.kind == replyType || m.kind == replyWithFDsType) {
		delete(d.calls, m.serial)
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
			e.hear(message{program: word(1), procedure: word(3), kind: word(4), serial: word(5)})
			e.skip, e.header = int(word(0))-headerBytes, e.header[:0]
		}
	}
	return total, nil
}
