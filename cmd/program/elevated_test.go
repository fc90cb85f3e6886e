package program

import (
	"strings"
	"testing"
)

func TestElevated(t *testing.T) {
	for _, c := range []struct {
		uid, euid, gid, egid int
		want                 string
	}{
		{1000, 1000, 1000, 1000, ""},
		{0, 0, 0, 0, ""},
		{1000, 0, 1000, 1000, "runs as uid 0 for uid 1000"},
		{1000, 1000, 1000, 27, "runs as gid 27 for gid 1000"},
		{0, 1000, 0, 0, "runs as uid 1000 for uid 0"},
	} {
		got := ""
		if err := elevated(c.uid, c.euid, c.gid, c.egid); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
