package simulated

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// maxConsole bounds the output that a VM's console keeps, in bytes.
const maxConsole = 16 << 10

// console is the newest output of the guests of one VM.
type console struct {
	VM      cluster.VMID `json:"vm"`
	Text    []byte       `json:"text"`
	Changed simTime      `json:"changed"`
}

// consoles are the consoles of all VMs.
type consoles struct {
	clock *clock
	byVM  map[cluster.VMID]*console
}

// print appends a line to the console of a guest, with the guest's own clock.
func (cs *consoles) print(m *machine, format string, args ...any) {
	k, ok := cs.byVM[m.VM]
	if !ok {
		k = &console{VM: m.VM}
		cs.byVM[m.VM] = k
	}
	k.Changed = cs.clock.now
	k.Text = append(k.Text, consoleLine(m.ran(cs.clock.now), fmt.Sprintf(format, args...))...)
	if extra := len(k.Text) - maxConsole; extra > 0 {
		cut := extra + bytes.IndexByte(k.Text[extra:], '\n') + 1
		k.Text = slices.Delete(k.Text, 0, cut)
	}
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}

// Console is the output of a VM's guest since its first boot. Each line begins with the guest's
// own clock, which stops while the guest is paused or saved. While a copy runs, a last line tells
// what it is doing.
func (c *Cluster) Console(now time.Time, vm cluster.VMID) ([]byte, error) {
	c.advance(now)
	k, ok := c.guests.consoles.byVM[vm]
	if !ok {
		return nil, newFailure(cluster.ErrNotFound, "console of %s", vm)
	}
	text := slices.Clone(k.Text)
	for _, m := range c.nodes.copies[vm] {
		if m.State == hypervisor.CopyRunning {
			text = append(text, consoleLine(m.ran(c.clock.now), m.activity())...)
		}
	}
	return text, nil
}

// activity describes what a running guest does.
func (m *machine) activity() string {
	switch s, ok := m.step(); {
	case m.Memory.Stage == booting:
		return "booting"
	case m.Memory.Stage == stopping:
		return "stopping"
	case m.program() == nil:
		return "running"
	case !ok:
		return "waits for its peers"
	default:
		return fmt.Sprintf("step %d of %d: %s of %s", m.Memory.Step+1, len(m.program().Steps), m.Memory.Done, s.Duration)
	}
}
