package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"vjob/cluster"
)

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "_": true, "7": true, "sim-run.2_b": true, strings.Repeat("x", 64): true,
		"": false, ".": false, "..": false, "-f": false, ".hidden": false, "a/b": false, "a b": false, "a\n": false, "ä": false,
		strings.Repeat("x", 65): false, "sweep[7]": false,
	} {
		err := cluster.CheckName("name", name)
		if cluster.IsName(name) != want || (err == nil) != want || err != nil && !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v, %v", name, cluster.IsName(name), err)
		}
	}
}
