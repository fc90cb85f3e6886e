package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPriceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	for _, c := range []struct{ text, saves, want string }{
		{"time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2\n", "0.1", ""},
		{"", "0.1", "energy.prices: " + path + ": prices: "},
		{"time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,NaN\n", "0.1", "energy.prices: " + path + ": line 3, price: "},
		{"time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2\n", "1.1", "energy.shift_saves: "},
		{"time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2\n", "-0.1", "energy.shift_saves: "},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := read(t, "energy: {prices: "+path+", shift_saves: "+c.saves+"}")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s: %v, want %q", c.text, c.saves, err, c.want)
		}
		if err == nil {
			if series, err := s.Energy.Series(); err != nil || len(series.Values()) != 2 {
				t.Errorf("%v, %v", series, err)
			}
		}
	}
	if _, err := read(t, "energy: {prices: /no/such/file}"); err == nil || !strings.Contains(err.Error(), "energy.prices") {
		t.Errorf("no file: %v", err)
	}
}
