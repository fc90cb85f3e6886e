package cluster_test

import (
	"errors"
	"testing"

	"vjob/cluster"
)

func vm(job cluster.VJobID, rank int) cluster.VMID { return cluster.VMID{VJob: job, Rank: rank} }

func TestRules(t *testing.T) {
	both := []cluster.VMID{vm(1, 0), vm(1, 1)}
	for _, c := range []struct {
		name string
		rule cluster.Rule
		at   [2]cluster.NodeID // "" is not running
		ok   bool
	}{
		{"spread, apart", cluster.Rule{Kind: cluster.Spread, VMs: both}, [2]cluster.NodeID{"a", "b"}, true},
		{"spread, together", cluster.Rule{Kind: cluster.Spread, VMs: both}, [2]cluster.NodeID{"a", "a"}, false},
		{"spread, one runs", cluster.Rule{Kind: cluster.Spread, VMs: both}, [2]cluster.NodeID{"a", ""}, true},
		{"gather, together", cluster.Rule{Kind: cluster.Gather, VMs: both}, [2]cluster.NodeID{"a", "a"}, true},
		{"gather, apart", cluster.Rule{Kind: cluster.Gather, VMs: both}, [2]cluster.NodeID{"a", "b"}, false},
		{"gather, one runs", cluster.Rule{Kind: cluster.Gather, VMs: both}, [2]cluster.NodeID{"", "b"}, true},
		{"ban, elsewhere", cluster.Rule{Kind: cluster.Ban, VMs: both, Nodes: []cluster.NodeID{"b"}}, [2]cluster.NodeID{"a", "a"}, true},
		{"ban, there", cluster.Rule{Kind: cluster.Ban, VMs: both, Nodes: []cluster.NodeID{"b"}}, [2]cluster.NodeID{"a", "b"}, false},
		{"fence, inside", cluster.Rule{Kind: cluster.Fence, VMs: both, Nodes: []cluster.NodeID{"a"}}, [2]cluster.NodeID{"a", "a"}, true},
		{"fence, outside", cluster.Rule{Kind: cluster.Fence, VMs: both, Nodes: []cluster.NodeID{"a"}}, [2]cluster.NodeID{"a", "b"}, false},
		{"fence, nowhere yet", cluster.Rule{Kind: cluster.Fence, VMs: both, Nodes: []cluster.NodeID{"a"}}, [2]cluster.NodeID{"", ""}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.rule.Validate(); err != nil {
				t.Fatal(err)
			}
			conf := cluster.NewConfiguration(cluster.Node{ID: "a"}, cluster.Node{ID: "b"})
			for rank, node := range c.at {
				if node != "" {
					conf.SetRunning(vm(1, rank), cluster.Resources{}, node)
				}
			}
			if broken := c.rule.Check(conf); (broken == "") != c.ok {
				t.Errorf("%s: %q", c.rule, broken)
			}
		})
	}
}

func TestRulesAreValidated(t *testing.T) {
	one := []cluster.VMID{vm(1, 0)}
	node := []cluster.NodeID{"a"}
	for name, rule := range map[string]cluster.Rule{
		"unknown kind":      {Kind: "near", VMs: one},
		"no VMs":            {Kind: cluster.Spread},
		"ban without nodes": {Kind: cluster.Ban, VMs: one},
		"fence without":     {Kind: cluster.Fence, VMs: one},
		"spread with nodes": {Kind: cluster.Spread, VMs: one, Nodes: node},
		"gather with nodes": {Kind: cluster.Gather, VMs: one, Nodes: node},
	} {
		if err := rule.Validate(); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
