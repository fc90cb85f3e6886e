package pool

import (
	"fmt"
	"slices"
	"strings"

	"vjob/cluster"
)

// PoolStatement is a pool as people write it.
type PoolStatement struct { //nolint:revive // Statement is that of the controls alone
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"` // "" or "cluster" is the cluster
	Statement
}

// String writes the pool in words, such as "in science, cpu reservation 4, cpu limit 8, memory shares high".
func (s *PoolStatement) String() string {
	parent := s.Parent
	if parent == "" {
		parent = Root
	}
	parts := []string{"in " + parent}
	for _, of := range []struct {
		name string
		*Stated
	}{{"cpu", &s.CPU}, {"memory", &s.Memory}} {
		for _, control := range [][2]string{{"reservation", of.Reservation}, {"limit", of.Limit}, {"shares", of.Shares}} {
			if control[1] != "" {
				parts = append(parts, of.name+" "+control[0]+" "+control[1])
			}
		}
	}
	return strings.Join(parts, ", ")
}

// ReadPools reads pools. Its errors are [cluster.FieldError] with fields such as pools[2].cpu.limit. Whether the
// pools make a tree [NewHierarchy] checks.
func ReadPools(list []PoolStatement) ([]Pool, error) {
	var faults cluster.Faults
	pools := make([]Pool, len(list))
	for i := range list {
		s, err := list[i].Read()
		faults.Add(cluster.WithPath(fmt.Sprintf("pools[%d]", i), err))
		pools[i] = Pool{Name: list[i].Name, Parent: list[i].Parent, Settings: s}
	}
	if named := func(p Pool) bool { return p.Name == Root }; !slices.ContainsFunc(pools, named) {
		for i := range pools {
			if pools[i].Parent == Root {
				pools[i].Parent = ""
			}
		}
	}
	return pools, faults.Err()
}
