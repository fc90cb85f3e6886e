package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"vjob/cluster"
)

// An error about a field keeps its message under another name of the field.
func TestFieldErrors(t *testing.T) {
	plain := errors.New("the disk is full")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a value", cluster.BadField("vms", 0, "at least 1"), "vms: 0 is not at least 1"},
		{"a text", cluster.BadField("name", "a b", "a name"), `name: "a b" is not a name`},
		{"a long text", cluster.BadField("name", strings.Repeat("x", 99), "a name"), `name: "` + strings.Repeat("x", 79) + "… is not a name"},
		{"a message", cluster.Fault("vms", "%d CPU requested, the cluster has %d", 40, 32), "vms: 40 CPU requested, the cluster has 32"},
		{"a value, renamed", cluster.Renamed("--vms", cluster.BadField("vms", 0, "at least 1")), "--vms: 0 is not at least 1"},
		{"a message, renamed", cluster.Renamed("--vms", cluster.Fault("vms", "too many")), "--vms: too many"},
		{"a message below a path", cluster.WithPath("shapes[0]", cluster.Fault("vms", "too many")), "shapes[0].vms: too many"},
		{"wrapped", cluster.WithPath("shapes[0]", fmt.Errorf("submit: %w", cluster.BadField("vms", 0, "at least 1"))), "shapes[0].vms: 0 is not at least 1"},
		{"of something else", cluster.WithPath("shapes[0]", plain), "the disk is full"},
	} {
		if c.err.Error() != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.err, c.want)
		}
		if errors.Is(c.err, cluster.ErrInvalid) != !errors.Is(c.err, plain) {
			t.Errorf("%s: is invalid: %t", c.name, errors.Is(c.err, cluster.ErrInvalid))
		}
	}
}
