package oar_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/oar"
	"vjob/oar/request"
)

// countWords has the counts as the cases write them.
var countWords = map[request.Count]string{request.All: "-1", request.Best: "-2", request.BestHalf: "-3"}

// formatAlternative formats an alternative on one line.
func formatAlternative(a request.Alternative) string {
	var b strings.Builder
	for _, g := range a.Groups {
		fmt.Fprintf(&b, "{%s}", g.Property.Text)
		for _, l := range g.Levels {
			n, word := countWords[l.Count]
			if !word {
				n = string(l.Count)
			}
			fmt.Fprintf(&b, "/%s=%s", l.Name, n)
		}
		b.WriteString(" ")
	}
	if a.Walltime != request.NoWalltime {
		fmt.Fprintf(&b, "%d", int64(a.Walltime/time.Second))
	}
	return b.String()
}

// formatCase formats the alternative of a case on one line.
func formatCase(t *testing.T, a alternative) string {
	t.Helper()
	var b strings.Builder
	for _, g := range a.Groups {
		fmt.Fprintf(&b, "{%s}", g.Property)
		for _, r := range g.Resources {
			var name string
			if err := json.Unmarshal(r[0], &name); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "/%s=%s", name, r[1])
		}
		b.WriteString(" ")
	}
	if a.Walltime != nil {
		fmt.Fprintf(&b, "%d", *a.Walltime)
	}
	return b.String()
}

// Requests are accepted, or refused with the same line, as by OAR 2.
func TestRequests(t *testing.T) {
	for _, c := range load(t).Requests {
		t.Run(c.ID, func(t *testing.T) {
			site := request.DefaultConfig()
			if c.Nodes != "" {
				site.NodesAlias = c.Nodes
			}
			r, err := request.Parse(c.L, site)
			if !c.OAR2.OK {
				code, _ := oar.ExitOf(err)
				if err == nil || int(code) != c.OAR2.Exit || !strings.HasPrefix(err.Error()+"\n", strings.Join(c.OAR2.Stderr, "\n")+"\n") {
					t.Errorf("%q: exit %d\n%v\nwant exit %d\n%s", c.L, code, err, c.OAR2.Exit, c.OAR2.Stderr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, a := range r.Alternatives {
				got = append(got, formatAlternative(a))
			}
			for _, a := range c.OAR2.Alternatives {
				want = append(want, formatCase(t, a))
			}
			if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("%q:\ngot  %s\nwant %s", c.L, g, w)
			}
		})
	}
}
