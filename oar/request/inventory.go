package request

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/oar/property"
)

// Inventory is the nodes of a cluster.
type Inventory struct {
	Nodes []cluster.Node
	// Free marks the nodes without VMs, which BEST counts. If nil, all nodes are free.
	Free map[cluster.NodeID]bool
}

// The properties of every node besides labels and name.
const (
	cpuProperty    = "cpu_milli"
	memoryProperty = "memory_mib"
)

// nodeProperties returns the labels, name and size of a node. Names of properties are
// case-insensitive.
func nodeProperties(n *cluster.Node, site Config) property.Properties {
	return func(name string) (string, bool) {
		if v, ok := label(n, name); ok {
			return v, true
		}
		switch strings.ToLower(name) {
		case cpuProperty:
			return fmt.Sprint(int64(n.Capacity.CPU)), true
		case memoryProperty:
			return fmt.Sprint(int64(n.Capacity.Memory)), true
		}
		return string(n.ID), site.unit(name) == Node
	}
}

// label returns the value of a label of a node.
func label(n *cluster.Node, name string) (string, bool) {
	if v, ok := n.Labels[name]; ok {
		return v, true
	}
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		if strings.EqualFold(key, name) {
			return n.Labels[key], true
		}
	}
	return "", false
}

// labels returns the names of all labels, sorted.
func (w *Inventory) labels() []string {
	all := map[string]bool{}
	for i := range w.Nodes {
		for key := range w.Nodes[i].Labels {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// labelKey returns the spelling of a label on the nodes.
func labelKey(name string, labels []string) (key string, ok bool) {
	if slices.Contains(labels, name) {
		return name, true
	}
	i := slices.IndexFunc(labels, func(key string) bool { return strings.EqualFold(key, name) })
	if i < 0 {
		return "", false
	}
	return labels[i], true
}

// free reports whether a node has no VMs and accepts some.
func (w *Inventory) free(n *cluster.Node) bool { return n.Hosts() && (w.Free == nil || w.Free[n.ID]) }
