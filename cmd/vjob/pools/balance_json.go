package pools

import (
	"vjob/scheduler/balance"
)

// Balanced is the JSON of `vjob balance -o json`.
type Balanced struct {
	Imbalance struct {
		Before Imbalance `json:"before"`
		After  Imbalance `json:"after"`
	} `json:"imbalance"`
	Weights   Weights    `json:"weights"`
	Why       string     `json:"why"` // the round ended
	Nodes     []NodeLoad `json:"nodes"`
	VMs       []VMLoad   `json:"vms"`
	Moves     []Move     `json:"moves"`
	Stranded  []Refused  `json:"stranded"` // VMs that cannot leave nodes that are being emptied
	Held      []Held     `json:"held"`     // nodes that stay loaded
	Refused   []Refused  `json:"refused"`  // of the VMs on these
	resources []balance.Resource
}

// Imbalance is the weighted sum of the standard deviations of the loads, and what it is made of.
type Imbalance struct {
	Total   float64 `json:"total"`
	CPU     Spread  `json:"cpu"`
	Memory  Spread  `json:"memory"`
	Network Spread  `json:"network"`
}

// Spread is how much the loads of one resource differ. A load of 1 is the capacity of the node.
type Spread struct {
	Deviation float64 `json:"standard_deviation"`
	Variation float64 `json:"coefficient_of_variation"`
	Peak      float64 `json:"largest_load"`
}

// Weights are the weights of the resources in the imbalance; their sum is 1.
type Weights struct {
	CPU     float64 `json:"cpu"`
	Memory  float64 `json:"memory"`
	Network float64 `json:"network"`
}

// NodeLoad is the load of a node, the sum of entitlements over the capacity.
type NodeLoad struct {
	Name    string `json:"name"`
	CPU     Load   `json:"cpu"`
	Memory  Load   `json:"memory"`
	Network Load   `json:"network"`
}

// Load is a load before and after the moves.
type Load struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// VMLoad is what a VM is entitled to, and its node after the moves.
type VMLoad struct {
	Name    string `json:"name"`
	Node    string `json:"node"`
	CPU     int64  `json:"cpu_milli"`
	Memory  int64  `json:"memory_mib"`
	Network int64  `json:"network_bytes_per_second"`
}

// Move is the migration of a VM, or of those of a group.
type Move struct {
	Number  int      `json:"number"` // from 1
	VMs     []string `json:"vms"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Gain    float64  `json:"gain"` // by how much the imbalance falls
	Benefit Effort   `json:"benefit"`
	Cost    Effort   `json:"cost"`
	Worth   float64  `json:"worth_node_seconds"` // benefit less cost, in seconds of an average node
	Takes   float64  `json:"takes_seconds"`
	After   []int    `json:"after"`         // numbers of the moves that have to end before
	Set     int      `json:"set,omitempty"` // moves of the same set gain only together
	Reason  string   `json:"reason"`
}

// Effort is an amount of each resource over time.
type Effort struct {
	CPU     float64 `json:"cpu_milli_seconds"`
	Memory  float64 `json:"memory_mib_seconds"`
	Network float64 `json:"network_bytes"`
}

// Refused is a VM that does not move, and why.
type Refused struct {
	VM      string  `json:"vm"`
	From    string  `json:"from"`
	To      string  `json:"to,omitempty"` // the best destination
	Kind    string  `json:"kind"`
	Gain    float64 `json:"gain"`
	Benefit Effort  `json:"benefit"`
	Cost    Effort  `json:"cost"`
	Reason  string  `json:"reason"`
}

// Held is a node that stays loaded, and what holds its VMs back.
type Held struct {
	Node string `json:"node"`
	Over bool   `json:"over_capacity"`
	Why  string `json:"why"`
}

// of is the load of a resource.
func (n *NodeLoad) of(r balance.Resource) Load {
	return [...]Load{n.CPU, n.Memory, n.Network}[r]
}

// of is the spread of a resource.
func (i *Imbalance) of(r balance.Resource) Spread {
	return [...]Spread{i.CPU, i.Memory, i.Network}[r]
}

// balanced is a round with names.
func (s *scene) balanced(r *balance.Round) *Balanced {
	out := &Balanced{
		Weights: Weights{r.Weights[0], r.Weights[1], r.Weights[2]}, Why: r.Why, Nodes: []NodeLoad{}, VMs: []VMLoad{},
		Moves: []Move{}, Stranded: []Refused{}, Held: []Held{}, Refused: []Refused{},
	}
	for k, w := range r.Weights {
		if w > 0 {
			out.resources = append(out.resources, balance.Resource(k))
		}
	}
	out.Imbalance.Before, out.Imbalance.After = imbalance(&r.Before), imbalance(&r.After)
	for i := range s.cluster.Nodes {
		at := func(k balance.Resource) Load { return Load{r.Loads[i].Before[k], r.Loads[i].After[k]} }
		out.Nodes = append(out.Nodes, NodeLoad{s.cluster.Nodes[i].Name, at(balance.CPU), at(balance.Memory), at(balance.Network)})
	}
	where := make([]int, len(s.cluster.VMs))
	for i := range s.cluster.VMs {
		where[i] = s.cluster.VMs[i].Node
	}
	for i := range r.Moves {
		m := &r.Moves[i]
		for _, vm := range m.VMs {
			where[vm] = m.To
		}
		after := []int{}
		for _, k := range m.After {
			after = append(after, k+1)
		}
		out.Moves = append(out.Moves, Move{
			Number: i + 1, VMs: names(s.cluster, m.VMs), From: s.cluster.Nodes[m.From].Name, To: s.cluster.Nodes[m.To].Name,
			Gain: m.Gain, Benefit: effort(m.Benefit), Cost: effort(m.Cost), Worth: m.Worth, Takes: m.Takes.Seconds(),
			After: after, Set: m.Set, Reason: m.Reason,
		})
	}
	for i := range s.cluster.VMs {
		v := &s.cluster.VMs[i]
		out.VMs = append(out.VMs, VMLoad{v.Name, s.cluster.Nodes[where[i]].Name, v.Entitlement[0], v.Entitlement[1], v.Entitlement[2]})
	}
	for i := range r.Stranded {
		out.Stranded = append(out.Stranded, s.refused(&r.Stranded[i], where))
	}
	for i := range r.Held {
		h := &r.Held[i]
		out.Held = append(out.Held, Held{s.cluster.Nodes[h.Node].Name, h.Over, h.Why})
		for k := range h.Refused {
			out.Refused = append(out.Refused, s.refused(&h.Refused[k], where))
		}
	}
	return out
}

func (s *scene) refused(f *balance.Refusal, where []int) Refused {
	out := Refused{
		VM: s.cluster.VMs[f.VM].Name, From: s.cluster.Nodes[where[f.VM]].Name, Kind: f.Kind.String(), Gain: f.Gain,
		Benefit: effort(f.Benefit), Cost: effort(f.Cost), Reason: f.Reason,
	}
	if f.To >= 0 {
		out.To = s.cluster.Nodes[f.To].Name
	}
	return out
}

func imbalance(i *balance.Imbalance) Imbalance {
	of := func(r balance.Resource) Spread { return Spread{i.Of[r], i.Variation[r], i.Peak[r]} }
	return Imbalance{i.Total, of(balance.CPU), of(balance.Memory), of(balance.Network)}
}

func effort(e balance.Effort) Effort {
	return Effort{e[balance.CPU], e[balance.Memory], e[balance.Network]}
}
