package simulated

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// maxConsole bounds the output that a VM's console keeps, in bytes.
const maxConsole = 32 << 10

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
	cs.write(m, consoleLine(m.runTime(cs.clock.now), fmt.Sprintf(format, args...)))
}

// write appends a text to the console of a guest. If the console is full, its first lines are removed.
func (cs *consoles) write(m *machine, text string) {
	k, ok := cs.byVM[m.VM]
	if !ok {
		k = &console{VM: m.VM}
		cs.byVM[m.VM] = k
	}
	k.Changed = cs.clock.now
	k.Text = append(k.Text, text...)
	if extra := len(k.Text) - maxConsole; extra > 0 {
		cut := extra + bytes.IndexByte(k.Text[extra:], '\n') + 1
		k.Text = slices.Delete(k.Text, 0, cut)
	}
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}
