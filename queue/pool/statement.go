package pool

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// PoolStatement is a pool as people write it.
type PoolStatement struct { //nolint:revive // Statement is that of the controls alone
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"` // "" or "cluster" is the cluster
	Statement
}

// ReadPools reads pools. Its errors are [cluster.FieldError] with fields such as pools[2].cpu.limit. Whether the
// pools make a tree [NewHierarchy] checks.
func ReadPools(list []PoolStatement) ([]Pool, error) {
	pools := make([]Pool, len(list))
	for i := range list {
		s, err := list[i].Read()
		if err != nil {
			return nil, cluster.WithPath(fmt.Sprintf("pools[%d]", i), err)
		}
		pools[i] = Pool{Name: list[i].Name, Parent: list[i].Parent, Settings: s}
	}
	if named := func(p Pool) bool { return p.Name == Root }; !slices.ContainsFunc(pools, named) {
		for i := range pools {
			if pools[i].Parent == Root {
				pools[i].Parent = ""
			}
		}
	}
	return pools, nil
}
