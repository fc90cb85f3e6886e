package db

import (
	"encoding/json"
	"fmt"

	"vjob/cluster"
	"vjob/scheduler"
)

// spec is what of a submission is opaque to queries and never changes: what runs
// in the VMs, and the rules. Members of a vjob mostly run the same, so that each
// distinct payload is kept once and VMs name it by index.
type spec struct {
	Payloads []json.RawMessage `json:"payloads"`
	Rules    []specRule        `json:"rules,omitempty"`
}

// specRule is a rule by ranks, as it was submitted.
type specRule struct {
	Kind  cluster.RuleKind `json:"kind"`
	Ranks []int            `json:"ranks,omitempty"`
	Nodes []cluster.NodeID `json:"nodes,omitempty"`
}

// encodeSpec returns the spec as JSON and the payload of each VM by index.
func encodeSpec(s *scheduler.Submission) (text string, payloads []int, err error) {
	sp := spec{Payloads: []json.RawMessage{}}
	known := map[string]int{}
	payloads = make([]int, len(s.VMs))
	for rank := range s.VMs {
		raw, err := json.Marshal(s.VMs[rank].Payload)
		if err != nil {
			return "", nil, fmt.Errorf("payload of VM %d: %w", rank, err)
		}
		index, ok := known[string(raw)]
		if !ok {
			index = len(sp.Payloads)
			known[string(raw)] = index
			sp.Payloads = append(sp.Payloads, raw)
		}
		payloads[rank] = index
	}
	for _, r := range s.Rules {
		sp.Rules = append(sp.Rules, specRule(r))
	}
	raw, err := json.Marshal(sp)
	return string(raw), payloads, err
}

// decoded is a spec ready for use; its payloads are shared by the VMs.
type decoded struct {
	Payloads []cluster.Payload `json:"payloads"`
	Rules    []specRule        `json:"rules"`
}

func decodeSpec(raw []byte) (decoded, error) {
	var d decoded
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("specification: %w", err)
	}
	return d, nil
}

// submitted are the rules as they were submitted.
func (d *decoded) submitted() []scheduler.SubmittedRule {
	rules := make([]scheduler.SubmittedRule, len(d.Rules))
	for i, r := range d.Rules {
		rules[i] = scheduler.SubmittedRule(r)
	}
	return rules
}
