package cluster

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// The variables that tell a guest what it works for.
const (
	EnvVJob = "VJOB_ID"   // the number of the vjob
	EnvRank = "VJOB_RANK" // which of its VMs this is, from 0
	EnvVMs  = "VJOB_VMS"  // how many there are
)

// The variables that tell the guests of an array which of its vjobs they work for.
const (
	EnvArrayID    = "VJOB_ARRAY_ID"    // the number of the array: that of its first vjob
	EnvArrayIndex = "VJOB_ARRAY_INDEX" // the place in it, from 1
	EnvParameter  = "VJOB_PARAMETER"   // as it was given
)

// GuestName is what the guest of a VM calls itself: "vjob-12-3".
func GuestName(vm VMID) string { return fmt.Sprintf("vjob-%d-%d", vm.VJob, vm.Rank) }

// Payload is what runs in the member of a rank. That of an array is kept once for all;
// here it becomes that of one of its vjobs, whose parameter follows the words of the
// command. A guest that runs something is told for whom.
func (j *VJob) Payload(rank int) Payload {
	p := j.VMs[rank].Payload
	if len(p.Command) == 0 && p.Script == "" && j.Array == 0 {
		return p
	}
	p.Env = maps.Clone(p.Env)
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	p.Env[EnvVJob], p.Env[EnvRank], p.Env[EnvVMs] = j.ID.String(), strconv.Itoa(rank), strconv.Itoa(len(j.VMs))
	if j.Array == 0 {
		return p
	}
	p.Env[EnvArrayID], p.Env[EnvArrayIndex], p.Env[EnvParameter] = j.Array.String(), strconv.Itoa(j.Index), j.Parameter
	if words, err := Words(j.Parameter); err == nil && len(p.Command) > 0 {
		p.Command = slices.Concat(p.Command, words)
	}
	return p
}

// ExitMark is how a guest says on a line of its console what its work exited with:
// "vjob: exit code 3".
const ExitMark = "vjob: exit code "

// ExitCode is the last that was said on a console; ok is false if nothing was.
func ExitCode(console []byte) (code int, ok bool) {
	at := bytes.LastIndex(console, []byte(ExitMark))
	if at < 0 {
		return 0, false
	}
	line, _, _ := bytes.Cut(console[at+len(ExitMark):], []byte("\n"))
	code, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	return code, err == nil && code >= 0 && code <= 255
}
