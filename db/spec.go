package db

import (
	"encoding/json"
	"fmt"

	"vjob/cluster"
	"vjob/scheduler/intake"
)

// spec is what of a submission is opaque to queries and never changes: what runs
// in the VMs, the rules and the terms. Members of a vjob mostly run the same, so that each
// distinct payload is kept once and VMs name it by index.
type spec struct {
	Payloads []json.RawMessage `json:"payloads"`
	Rules    string            `json:"rules,omitempty"`
	Terms    cluster.Terms     `json:"terms,omitzero"`
}

// encodeSpec returns the spec as JSON and the payload of each VM by index.
func encodeSpec(s *intake.Submission) (text string, payloads []int, err error) {
	sp := spec{Payloads: []json.RawMessage{}, Rules: s.Rules, Terms: s.Terms}
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
	raw, err := json.Marshal(sp)
	return string(raw), payloads, err
}

// decoded is a spec ready for use; its payloads are shared by the VMs.
type decoded struct {
	Payloads []cluster.Payload `json:"payloads"`
	Rules    string            `json:"rules"`
	Terms    cluster.Terms     `json:"terms"`
}

// decodeTerms reads nothing but the terms.
func decodeTerms(raw []byte) (cluster.Terms, error) {
	var d struct {
		Terms cluster.Terms `json:"terms"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d.Terms, fmt.Errorf("specification: %w", err)
	}
	return d.Terms, nil
}

func decodeSpec(raw []byte) (decoded, error) {
	var d decoded
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("specification: %w", err)
	}
	return d, nil
}
