package simulated

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// maxConsole bounds what a VM's console keeps, and what it keeps of standard error, in bytes.
const maxConsole = 64 << 10

// consoleFull is the last line of a console that is full.
const consoleFull = "\nthe console of a simulated guest is full\n"

// console is what the guests of one VM have printed. It only grows.
type console struct {
	VM      cluster.VMID `json:"vm"`
	Text    []byte       `json:"text"`
	Errors  []byte       `json:"errors,omitempty"` // that were kept apart
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

// write appends a text to the console of a guest.
func (cs *consoles) write(m *machine, text string) {
	k := cs.of(m)
	k.Text = grow(k.Text, text)
}

// writeErrors appends what a guest writes to its standard error, which is kept apart.
func (cs *consoles) writeErrors(m *machine, text string) {
	k := cs.of(m)
	k.Errors = grow(k.Errors, text)
}

// of returns the console of a guest that changes.
func (cs *consoles) of(m *machine) *console {
	k, ok := cs.byVM[m.VM]
	if !ok {
		k = &console{VM: m.VM}
		cs.byVM[m.VM] = k
	}
	k.Changed = cs.clock.now
	return k
}

// grow appends a text up to the bound.
func grow(to []byte, text string) []byte {
	room := maxConsole - len(consoleFull) - len(to)
	switch {
	case room < 0: // it is full
		return to
	case len(text) <= room:
		return append(to, text...)
	}
	return append(append(to, text[:room]...), consoleFull...)
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}
