package simulated

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// consoleKept is how much of its output a VM's console keeps, in bytes.
const consoleKept = 16 << 10

// console is what the guests of one VM have printed, the newest part.
type console struct {
	VM      cluster.VMID `json:"vm"`
	Text    []byte       `json:"text"`
	Changed moment       `json:"changed"`
}

// print lets a guest print a line, with its own clock.
func (c *Cluster) print(m *machine, format string, args ...any) {
	k, ok := c.consoles[m.VM]
	if !ok {
		k = &console{VM: m.VM}
		c.consoles[m.VM] = k
	}
	k.Changed = c.now
	k.Text = append(k.Text, consoleLine(c.ran(m), fmt.Sprintf(format, args...))...)
	if extra := len(k.Text) - consoleKept; extra > 0 {
		cut := extra + bytes.IndexByte(k.Text[extra:], '\n') + 1
		k.Text = slices.Delete(k.Text, 0, cut)
	}
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}

// Console is what the guest of a VM has printed since its first boot. The clock
// in front of each line is the guest's own: it stands still while the guest does,
// and goes on where it stood after a save or a migration. While a copy runs, a
// last line tells what it is doing.
func (c *Cluster) Console(now time.Time, vm cluster.VMID) ([]byte, error) {
	c.run(now)
	k, ok := c.consoles[vm]
	if !ok {
		return nil, failed(cluster.ErrNotFound, "console of %s", vm)
	}
	text := slices.Clone(k.Text)
	for _, m := range c.where[vm] {
		if m.State == hypervisor.CopyRunning {
			text = append(text, consoleLine(c.ran(m), m.doing())...)
		}
	}
	return text, nil
}

// doing tells in a word what a running guest does.
func (m *machine) doing() string {
	switch s, ok := m.step(); {
	case m.Mem.Stage == booting:
		return "booting"
	case m.Mem.Stage == stopping:
		return "stopping"
	case m.program() == nil:
		return "running"
	case !ok:
		return "waits for its peers"
	default:
		return fmt.Sprintf("step %d of %d: %s of %s", m.Mem.Step+1, len(m.program().Steps), m.Mem.Done, s.Duration)
	}
}
