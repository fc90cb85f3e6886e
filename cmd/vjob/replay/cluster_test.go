package replay

import (
	"errors"
	"testing"

	"vjob/cluster"
)

func TestParseCluster(t *testing.T) {
	nodes, err := parseCluster("12x0.5x1GiB")
	if err != nil || len(nodes) != 12 || nodes[0].ID != "n01" || nodes[11].ID != "n12" || nodes[0].Capacity.CPU != 500 {
		t.Errorf("%v, %v", nodes, err)
	}
	for _, text := range []string{"", "5", "5x2", "0x1x1GiB", "5x0x1GiB", "5x1x0", "-1x1x1", "99999x1x1"} {
		if _, err := parseCluster(text); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
