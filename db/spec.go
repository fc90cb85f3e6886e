package db

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/scheduler/admission"
)

// spec is the part of a submission that is opaque to queries and never changes: its VMs, their
// payloads, the rules, the terms and the origin. Members of a vjob mostly run the same, so each distinct
// payload is stored once and VMs refer to it by index. All vjobs of an array share one spec.
type spec struct {
	Payloads []json.RawMessage `json:"payloads"`
	VMs      []vmSpec          `json:"vms"`
	Rules    string            `json:"rules,omitempty"`
	Terms    cluster.Terms     `json:"terms,omitzero"`
	Origin   cluster.Origin    `json:"origin,omitzero"`
}

// vmSpec is a VM as [CPU in milli, memory in MiB, index of the payload]. The table vms has
// a row for it only once the VM has a place.
type vmSpec [3]int64

// encodeSpec returns the spec as JSON.
func encodeSpec(s *admission.Submission) (string, error) {
	sp := spec{Payloads: []json.RawMessage{}, VMs: make([]vmSpec, len(s.VMs)), Rules: s.Rules, Terms: s.Terms, Origin: s.Origin}
	known := map[string]int{}
	index := 0
	for rank := range s.VMs {
		vm := &s.VMs[rank]
		if rank == 0 || vm.Payload != s.VMs[rank-1].Payload {
			raw, err := json.Marshal(vm.Work())
			if err != nil {
				return "", fmt.Errorf("payload of VM %d: %w", rank, err)
			}
			var ok bool
			if index, ok = known[string(raw)]; !ok {
				index = len(sp.Payloads)
				known[string(raw)] = index
				sp.Payloads = append(sp.Payloads, raw)
			}
		}
		sp.VMs[rank] = vmSpec{int64(vm.Reserved.CPU), int64(vm.Reserved.Memory), int64(index)}
	}
	raw, err := json.Marshal(sp)
	return string(raw), err
}

// decoded is a spec ready for use; its payloads are shared by the VMs.
type decoded struct {
	Payloads []cluster.Payload `json:"payloads"`
	VMs      []vmSpec          `json:"vms"` // absent in specs of older versions: there each VM has a row
	Rules    string            `json:"rules"`
	Terms    storedTerms       `json:"terms"`
	Origin   cluster.Origin    `json:"origin"`

	shared *cluster.Terms // with those of the row of the last vjob
}

// storedTerms also reads the terms of older versions, with durations in nanoseconds.
type storedTerms struct {
	cluster.Terms
	OldMinRun   time.Duration `json:"min_run"`
	OldFlexible time.Duration `json:"flexible"`
}

// current returns the terms as they are stored now.
func (s *storedTerms) current() *cluster.Terms {
	s.MinRun, s.Flexible = cmp.Or(s.MinRun, cluster.Seconds(s.OldMinRun)), cmp.Or(s.Flexible, cluster.Seconds(s.OldFlexible))
	return &s.Terms
}

// decodeTerms reads the terms of a spec.
func decodeTerms(raw []byte) (*cluster.Terms, error) {
	var terms storedTerms
	if err := json.Unmarshal(raw, &terms); err != nil {
		return nil, fmt.Errorf("specification: %w", err)
	}
	return terms.current(), nil
}

func decodeSpec(raw []byte) (*decoded, error) {
	d := &decoded{}
	if err := json.Unmarshal(raw, d); err != nil {
		return d, fmt.Errorf("specification: %w", err)
	}
	d.shared = d.Terms.current()
	for rank, vm := range d.VMs {
		if vm[2] < 0 || vm[2] >= int64(len(d.Payloads)) {
			return d, fmt.Errorf("specification: VM %d has payload %d of %d", rank, vm[2], len(d.Payloads))
		}
	}
	return d, nil
}

// encodeKept returns the kept generations as JSON, or "" without any.
func encodeKept(kept []gang.Kept) (string, error) {
	if len(kept) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(kept)
	return string(raw), err
}

func decodeKept(raw []byte) (kept []gang.Kept, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &kept)
	}
	return kept, err
}

// members returns the VMs of a vjob from its spec, for vjobs without rows in the table vms.
func (d *decoded) members(id cluster.VJobID) []cluster.VM {
	vms := make([]cluster.VM, len(d.VMs))
	for rank, vm := range d.VMs {
		vms[rank] = cluster.VM{
			ID:       cluster.VMID{VJob: id, Rank: rank},
			Reserved: cluster.Resources{CPU: cluster.MilliCPU(vm[0]), Memory: cluster.MiB(vm[1])},
			Payload:  &d.Payloads[vm[2]],
		}
	}
	return vms
}
