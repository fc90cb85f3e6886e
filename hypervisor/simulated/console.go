package simulated

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// maxConsole bounds what a VM's console keeps, and what it keeps of standard error, in bytes.
const maxConsole = 64 << 10

// maxConsoles bounds the consoles of all vjobs that are gone, in bytes: they are in memory. Each takes about emptyConsole beside its
// texts.
const (
	maxConsoles  = 16 << 20
	emptyConsole = 256
)

// consoleFull is the last line of a console that is full.
const consoleFull = "\nthe console of a simulated guest is full\n"

// console is what the guests of one VM have printed. It only grows.
type console struct {
	VM      cluster.VMID `json:"vm"`
	Text    []byte       `json:"text"`
	Errors  []byte       `json:"errors,omitempty"` // that were kept apart
	Changed simTime      `json:"changed"`
	// Guest is the incarnation of the last guest. Its output begins at Start.
	Guest int `json:"guest,omitempty"`
	Start int `json:"start,omitempty"`
	// Before is, in a snapshot of changes, how much of both texts comes before these.
	Before printed `json:"before,omitzero"`
	saved  printed // is in the last [Cluster.Changes]
}

// printed is how much of the texts of a console there was at an instant, in bytes.
type printed struct {
	Text   int `json:"text"`
	Errors int `json:"errors,omitempty"`
}

// printed returns how much there is.
func (k *console) printed() printed { return printed{len(k.Text), len(k.Errors)} }

// size is how much memory it takes, in bytes.
func (k *console) size() int { return emptyConsole + len(k.Text) + len(k.Errors) }

// unsaved returns the console as it is saved: with what is new, or as a whole.
func (k *console) unsaved(whole bool) *console {
	c := *k
	if !whole {
		c.Text, c.Errors, c.Before = k.Text[k.saved.Text:], k.Errors[k.saved.Errors:], k.saved
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

// begin notes that a guest is started, and follows on what earlier guests have printed.
func (cs *consoles) begin(m *machine) {
	k := cs.of(m)
	k.Guest, k.Start = m.Memory.Stamp.Incarnation, len(k.Text)
}

// told returns the exit status that the last guest of a VM has printed, if it is the given one.
func (cs *consoles) told(g hypervisor.Guest) cluster.ExitStatus {
	k, ok := cs.byVM[g.VM]
	if !ok || k.Guest != g.Incarnation {
		return cluster.UnknownExit
	}
	return cluster.ReadExit(k.Text[k.Start:])
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
	cs.touched.consoles.add(m.VM)
	k.Changed = cs.clock.now
	return k
}

// limit removes consoles of vjobs that are gone, the oldest first, until the others have at most so many bytes.
func (cs *consoles) limit(most int, gone func(cluster.VJobID) bool) {
	var old []*console
	total := 0
	for vm, k := range cs.byVM {
		if gone(vm.VJob) {
			old, total = append(old, k), total+k.size()
		}
	}
	if total <= most {
		return
	}
	slices.SortFunc(old, func(a, b *console) int { return cmp.Or(cmp.Compare(a.Changed, b.Changed), a.VM.Compare(b.VM)) })
	for _, k := range old {
		if total <= most {
			return
		}
		total -= k.size()
		delete(cs.byVM, k.VM)
		cs.touched.consoles.add(k.VM)
	}
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

// restore adds a console, or what is new of one.
func (cs *consoles) restore(k *console) {
	if earlier, exists := cs.byVM[k.VM]; exists {
		k.Text = slices.Concat(earlier.Text[:min(k.Before.Text, len(earlier.Text))], k.Text)
		k.Errors = slices.Concat(earlier.Errors[:min(k.Before.Errors, len(earlier.Errors))], k.Errors)
	}
	k.Before = printed{}
	cs.byVM[k.VM] = k
}

func consoleLine(ran time.Duration, text string) string {
	return fmt.Sprintf("[%12.6f] %s\n", ran.Seconds(), text)
}
