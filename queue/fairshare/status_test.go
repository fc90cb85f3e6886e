package fairshare_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/queue/fairshare"
)

func TestStatus(t *testing.T) {
	tree, err := fairshare.New(fairshare.Settings{
		HalfLife: time.Hour, CPU: 1, Share: 1, Shares: map[string]float64{"physics": 2, "physics/ann": 3, "biology": 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tree.Charge(fairshare.Path{"physics", "bob"}, start, fairshare.Usage{CPUSec: 600})
	tree.Charge(fairshare.Path{"biology", "eve"}, start, fairshare.Usage{CPUSec: 200})
	want := `
biology share 1 part 0.33 used 100 taken 0.25 group true
biology/eve share 1 part 0.33 used 100 taken 0.25 group false
physics share 2 part 0.67 used 300 taken 0.75 group true
physics/ann share 3 part 0.50 used 0 taken 0.00 group false
physics/bob share 1 part 0.17 used 300 taken 0.75 group false`
	var got strings.Builder
	for _, s := range tree.Statuses(start.Add(time.Hour)) {
		fmt.Fprintf(&got, "\n%s share %v part %.2f used %.0f taken %.2f group %t", s.Path, s.Share, s.Fraction, s.Used, s.Taken, s.Group)
		if f := tree.Factor(s.Path); f != s.Factor {
			t.Errorf("%s: factor %v, want %v", s.Path, s.Factor, f)
		}
	}
	if got.String() != want {
		t.Errorf("status:%s\nwant%s", got.String(), want)
	}
}
