package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Resource is a node. OAR's resources are cores or parts of nodes; here a VM takes
// from a node what it needs, so that a resource is a whole node.
type Resource struct {
	ID        int               `json:"resource_id"`
	Node      string            `json:"network_address"`
	State     string            `json:"state"` // Alive, Absent, Suspected, Dead
	Draining  string            `json:"drain"` // YES, NO
	CPUMilli  int64             `json:"cpu_milli"`
	MemoryMiB int64             `json:"memory_mib"`
	Jobs      []int64           `json:"jobs"` // those that the caller may see
	Labels    map[string]string `json:"properties"`
	Links     []Link            `json:"links,omitempty"`
}

// Properties are name=value with commas, in the order of the names.
func (r *Resource) Properties() string {
	all := map[string]string{
		"resource_id": fmt.Sprint(r.ID), "network_address": r.Node, "state": r.State, "drain": r.Draining,
		"cpu_milli": fmt.Sprint(r.CPUMilli), "memory_mib": fmt.Sprint(r.MemoryMiB),
	}
	maps.Copy(all, r.Labels)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return strings.Join(list, ", ")
}

// Queue is a queue.
type Queue struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	Policy   string `json:"policy"`
	State    string `json:"state"` // Active
}

// Usage is what a user has asked for and used in a stretch of time, in seconds of
// processors.
type Usage struct {
	User  string `json:"user"`
	First int64  `json:"first_window_start"`
	Last  int64  `json:"last_window_end"`
	Asked int64  `json:"asked"`
	Used  int64  `json:"used"`
}

// Change is the body of POST /oarapi/resources/{name}/state.
type Change struct {
	State string `json:"state"` // Alive, Absent
}
