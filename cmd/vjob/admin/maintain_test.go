package admin

import (
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
)

func TestMaintenanceBar(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)
	nodes := []wire.Node{
		{Name: "n1", Maintenance: &wire.NodeMaintenance{VMs: 6, Left: 3, End: &end}},
		{Name: "n2", Maintenance: &wire.NodeMaintenance{VMs: 2, Empty: true}},
		{Name: "n3", Maintenance: &wire.NodeMaintenance{VMs: 2, Left: 2, Stays: "not drained yet: vjob 7"}},
		{Name: "n4"},
	}
	for _, c := range []struct {
		names []string
		want  string
		over  bool
		fails bool
	}{
		{[]string{"n1", "n2"}, "3 of 8 VMs left, 1 of 2 nodes empty, the rest at about 2026-03-01", false, false},
		{[]string{"n2"}, "0 of 2 VMs left, 1 of 1 nodes empty", true, false},
		{[]string{"n3"}, "2 of 2 VMs left, 0 of 1 nodes empty; n3: not drained yet: vjob 7", false, false},
		{[]string{"n4"}, "", false, true},
	} {
		line, over, err := maintenanceBar(nodes, c.names)
		if !strings.Contains(line, c.want) || over != c.over || (err != nil) != c.fails {
			t.Errorf("%v: %q, %v, %v; want %q", c.names, line, over, err, c.want)
		}
	}
}
