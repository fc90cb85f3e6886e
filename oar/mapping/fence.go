package mapping

import (
	"slices"

	"vjob/cluster"
	"vjob/oar/message"
	"vjob/oar/property"
)

// Fence is the rule that keeps all VMs of a vjob on the nodes that match all filters, one
// by one, in the language of docs/rules.md. The error is a [*message.Error].
func Fence(filters []property.Filter, world World, site Site) (string, error) {
	names := slices.Concat(world.labels(), site.Nodes, []string{cpuProperty, memoryProperty})
	var nodes []*cluster.Node
	for _, f := range filters {
		if err := f.Check(names); err != nil {
			return "", err
		}
	}
	for i := range world.Nodes {
		n := &world.Nodes[i]
		of := properties(n, site)
		if !slices.ContainsFunc(filters, func(f property.Filter) bool { return f.Expr != nil && !f.Matches(of) }) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return "", &message.Error{Exit: message.ExitResources, OAR: message.NotEnough, Text: "no node has the properties that rules of admission ask for"}
	}
	slices.SortFunc(nodes, byName)
	return "fence($VMS, " + set(nodes) + ");\n", nil
}
