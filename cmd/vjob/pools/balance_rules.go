package pools

import (
	"strings"
	"time"

	"vjob/cluster"
	"vjob/repack"
	"vjob/repack/script"
	"vjob/repack/script/rulelist"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/permit"
)

// dimensions are the resources as rules call them.
var dimensions = []string{"cpu", "memory"}

// ruleNames are the names that the rules of a file know, with amounts as the file writes them.
type ruleNames struct{ *script.Table }

// Amount reads processors or sizes.
func (n ruleNames) Amount(resource, text string) (int64, error) {
	parse := parseCPU
	if resource == dimensions[1] {
		parse = parseMemory
	}
	return parse(resource, text)
}

// addRules makes the rules of a file those of the cluster. VMs that have to be on one node move together; their
// groups have numbers after those of the file.
func (s *scene) addRules(f *poolFile, groups int) error {
	if strings.TrimSpace(string(f.Rules)) == "" {
		return nil
	}
	file, problems := rulelist.Read("rules", string(f.Rules))
	if script.Refused(problems) {
		return &cluster.FieldError{Field: "rules", Text: (&script.Error{Diagnostics: problems}).Error()}
	}
	in := &repack.Instance{Dims: dimensions}
	var vms, nodes []string
	for i := range s.cluster.Nodes {
		n := &s.cluster.Nodes[i]
		nodes = append(nodes, n.Name)
		in.Nodes = append(in.Nodes, repack.Node{Name: n.Name, Capacity: n.Capacity[:2]})
	}
	for i := range s.cluster.VMs {
		v := &s.cluster.VMs[i]
		vms = append(vms, v.Name)
		needs := v.Reserved[:2]
		in.VMs = append(in.VMs, repack.VM{Name: v.Name, State: repack.Running, Want: repack.Running, Host: v.Node, Now: needs, Next: needs})
	}
	names := script.NewTable(vms, nodes, dimensions, time.Second)
	for i := range f.Nodes {
		names.Mark(i, f.Nodes[i].Labels)
	}
	program, err := file.Compile(ruleNames{names})
	if err != nil {
		return &cluster.FieldError{Field: "rules", Text: err.Error()}
	}
	rules, err := program.Rules(in)
	if err != nil {
		return &cluster.FieldError{Field: "rules", Text: err.Error()}
	}
	for i := range program.Postings {
		if p := &program.Postings[i]; p.Kind.Name == "gather" && p.Penalty == 0 {
			if members, ok := p.Values["vms"].([]int); ok {
				groups = s.join(members, groups)
			}
		}
	}
	permits := permit.New(in, rules)
	for i := range s.cluster.VMs {
		if why := permits.Fixed(i); why != "" && s.cluster.VMs[i].Fixed == "" {
			s.cluster.VMs[i].Fixed = why
		}
	}
	s.cluster.Compatible, s.cluster.Moved = permits.Compatible, permits.Moved
	return nil
}

// join makes VMs that run on the same node one group, with the groups that they are in already. It returns the number
// of groups so far.
func (s *scene) join(vms []int, groups int) int {
	byNode := map[int][]int{}
	for _, vm := range vms {
		byNode[s.cluster.VMs[vm].Node] = append(byNode[s.cluster.VMs[vm].Node], vm)
	}
	for _, node := range s.nodesOf(vms) {
		groups++
		for _, vm := range byNode[node] {
			merge(s.cluster.VMs, s.cluster.VMs[vm].Group, groups)
			s.cluster.VMs[vm].Group = groups
		}
	}
	return groups
}

// nodesOf returns the nodes of VMs, each once, in the order of the VMs.
func (s *scene) nodesOf(vms []int) (list []int) {
	seen := map[int]bool{}
	for _, vm := range vms {
		if at := s.cluster.VMs[vm].Node; !seen[at] {
			seen[at] = true
			list = append(list, at)
		}
	}
	return list
}

// merge gives all VMs of a group another number.
func merge(vms []balance.VM, from, to int) {
	for i := range vms {
		if from > 0 && vms[i].Group == from {
			vms[i].Group = to
		}
	}
}
