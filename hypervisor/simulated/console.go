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
	// Kept is, in a snapshot of changes, how many bytes of the earlier text stay before this one.
	Kept  int `json:"kept,omitempty"`
	saved int // how many bytes, the first ones, are in the last [Cluster.Changes]
}

// unsaved returns the console as it is saved: with the new text, or with the whole of it.
func (k *console) unsaved(whole bool) *console {
	c := *k
	if !whole {
		c.Text, c.Kept = k.Text[k.saved:], k.saved
	}
	return &c
}

// consoles are the consoles of all VMs.
type consoles struct {
	touched *touched
	clock   *clock
	byVM    map[cluster.VMID]*console
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
	cs.touched.consoles.add(m.VM)
	k.Changed = cs.clock.now
	k.Text = append(k.Text, text...)
	if extra := len(k.Text) - maxConsole; extra > 0 {
		cut := extra + bytes.IndexByte(k.Text[extra:], '\n') + 1
		k.Text, k.saved = slices.Delete(k.Text, 0, cut), max(0, k.saved-cut)
	}
}

// restore adds a console, or the new text of one.
func (cs *consoles) restore(k *console) {
	if earlier, exists := cs.byVM[k.VM]; exists {
		k.Text = slices.Concat(earlier.Text[len(earlier.Text)-min(k.Kept, len(earlier.Text)):], k.Text)
	}
	k.Kept = 0
	cs.byVM[k.VM] = k
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}
