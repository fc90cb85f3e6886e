package simulated

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated/guestshell"
)

var _ hypervisor.Adviser = (*Driver)(nil)

// Bounds of the notes about a vjob.
const (
	advisedVMs = 16
	maxNotes   = 5
)

// Notes says what the guests of a vjob will not understand of their commands, and whether they will run until they
// are stopped. It interprets the commands of the first VMs only; others rarely differ.
func (d *Driver) Notes(job *cluster.VJob) []string {
	if job.Container || !job.Reservation.IsZero() {
		return nil // a container has no guests; a reservation is expected to last
	}
	var notes []string
	endless := false // it was noted
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); len(notes) < maxNotes && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	for rank := range min(len(job.VMs), advisedVMs) {
		p := job.Payload(rank)
		if p.Program != nil {
			continue
		}
		what := "command"
		if p.Script != "" {
			what = "script"
		}
		work := guestshell.Interpret(&p, job.VMs[rank].Reserved.CPU, cluster.GuestName(cluster.VMID{VJob: job.ID, Rank: rank}))
		switch {
		case work == nil && endless:
		case work == nil && job.Walltime > 0:
			endless = true
			add("simulated guests without a command or steps run until their walltime ends, or until they are stopped: vjob delete %s", job.ID)
		case work == nil:
			endless = true
			add("simulated guests without a command or steps run until they are stopped: vjob delete %s", job.ID)
		default:
			for _, fault := range work.Faults {
				add("simulated guests interpret the %s: %s; %s", what, fault, guestshell.Hint)
			}
		}
	}
	return notes
}
