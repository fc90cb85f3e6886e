package cluster

import (
	"maps"
	"slices"
	"strconv"
)

// The variables that identify a guest.
const (
	EnvVJob = "VJOB_ID"   // the number of the vjob
	EnvRank = "VJOB_RANK" // which of its VMs this is, from 0
	EnvVMs  = "VJOB_VMS"  // how many there are
)

// The variables that identify a guest of an array.
const (
	EnvArrayID    = "VJOB_ARRAY_ID"    // the number of the array, which is that of its first vjob
	EnvArrayIndex = "VJOB_ARRAY_INDEX" // the index in the array, from 1
	EnvParameter  = "VJOB_PARAMETER"   // as submitted
)

// GuestName is the host name of the guest of a VM, and the name of its machine on every node: "vjob-12-3".
func GuestName(vm VMID) string {
	return "vjob-" + strconv.FormatInt(int64(vm.VJob), 10) + "-" + strconv.Itoa(vm.Rank)
}

// Payload is the payload of the member with a rank. The vjobs of an array share one payload;
// Payload appends the parameter of the vjob to the command. If the guest runs something, its
// environment identifies the vjob and the member.
func (j *VJob) Payload(rank int) Payload {
	p := j.VMs[rank].Work()
	p.ErrorsApart = j.ErrorsApart()
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
