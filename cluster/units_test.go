package cluster_test

import (
	"errors"
	"testing"

	"vjob/cluster"
)

func TestParseCPU(t *testing.T) {
	for _, c := range []struct {
		text string
		want cluster.MilliCPU
		bad  bool
	}{
		{text: "2", want: 2000},
		{text: "0.5", want: 500},
		{text: "250m", want: 250},
		{text: " 1.5 ", want: 1500},
		{text: "0", want: 0},
		{text: "0.0004", want: 0},
		{text: "0.0005", want: 1},
		{text: "1e3", want: 1000000},
		{text: "", bad: true},
		{text: "m", bad: true},
		{text: "-1", bad: true},
		{text: "two", bad: true},
		{text: "NaN", bad: true},
		{text: "Inf", bad: true},
		{text: "1e300", bad: true},
		{text: "1 2", bad: true},
	} {
		got, err := cluster.ParseCPU(c.text)
		if bad := errors.Is(err, cluster.ErrInvalid); bad != c.bad || got != c.want {
			t.Errorf("%q: got %d, %v", c.text, got, err)
		}
	}
}

func TestParseMiB(t *testing.T) {
	for _, c := range []struct {
		text string
		want cluster.MiB
		bad  bool
	}{
		{text: "512", want: 512},
		{text: "512MiB", want: 512},
		{text: "512M", want: 512},
		{text: "2 GiB", want: 2048},
		{text: "1.5G", want: 1536},
		{text: "1TiB", want: 1 << 20},
		{text: "0", want: 0},
		{text: "", bad: true},
		{text: "GiB", bad: true},
		{text: "-1GiB", bad: true},
		{text: "1KiB", bad: true},
		{text: "1e12GiB", bad: true},
		{text: "NaN", bad: true},
	} {
		got, err := cluster.ParseMiB(c.text)
		if bad := errors.Is(err, cluster.ErrInvalid); bad != c.bad || got != c.want {
			t.Errorf("%q: got %d, %v", c.text, got, err)
		}
	}
}

func TestUnitsAsText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{cluster.MilliCPU(1500).String(), "1.5"},
		{cluster.MilliCPU(2000).String(), "2"},
		{cluster.MilliCPU(1).String(), "0.001"},
		{cluster.MilliCPU(-500).String(), "-0.5"},
		{cluster.MiB(0).String(), "0 MiB"},
		{cluster.MiB(1023).String(), "1023 MiB"},
		{cluster.MiB(1536).String(), "1.5 GiB"},
		{(3 * cluster.TiB).String(), "3 TiB"},
		{(-2 * cluster.GiB).String(), "-2 GiB"},
		{cluster.Resources{CPU: 2000, Memory: 1536}.String(), "2 CPU, 1.5 GiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestResources(t *testing.T) {
	a, b := cluster.Resources{CPU: 1000, Memory: 10}, cluster.Resources{CPU: 500, Memory: 20}
	if got := a.Plus(b).Minus(b); got != a {
		t.Errorf("plus and minus do not cancel: %s", got)
	}
	if got := a.Times(3); got != (cluster.Resources{CPU: 3000, Memory: 30}) {
		t.Errorf("three times %s is %s", a, got)
	}
	if a.Fits(b) || b.Fits(a) || !a.Fits(a) {
		t.Error("fitting must hold in every dimension")
	}
	if a.IsZero() || !(cluster.Resources{}).IsZero() {
		t.Error("only nothing is zero")
	}
}
