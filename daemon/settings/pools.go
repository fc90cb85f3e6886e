package settings

import (
	"maps"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/internal/suggest"
	"vjob/queue/pool"
)

// validatePools checks the pools beside the nodes, and the pools of queues and projects.
func (s *Settings) validatePools(nodes []cluster.Node) error {
	pools, err := pool.ReadPools(s.Pools)
	if err != nil {
		return err
	}
	known := map[string]bool{pool.Root: true}
	for i := range pools {
		if pools[i].Name == pool.Root {
			return cluster.BadField(indexed("pools", i)+".name", pool.Root, "a name other than that of the whole cluster")
		}
		known[pools[i].Name] = true
	}
	capacity := cluster.Resources{}
	for _, n := range nodes {
		capacity = capacity.Plus(n.Capacity)
	}
	if _, err := pool.NewHierarchy(capacity, pools); err != nil {
		return err
	}
	for i, q := range s.Queues {
		if err := knownPool(indexed("queues", i)+".pool", q.Pool, known); err != nil {
			return err
		}
	}
	for i, p := range s.Projects {
		if err := knownPool(indexed("projects", i)+".pool", p.Pool, known); err != nil {
			return err
		}
	}
	return nil
}

// knownPool returns an error for a pool that the settings do not have.
func knownPool(field, name string, known map[string]bool) error {
	if name == "" || known[name] {
		return nil
	}
	names := slices.Sorted(maps.Keys(known))
	if near := suggest.Nearest(name, names); near != "" {
		names = []string{near}
	}
	return cluster.BadField(field, name, "a pool of the settings, such as "+strings.Join(names, ", "))
}
