package suggest_test

import (
	"strings"
	"testing"

	"vjob/internal/suggest"
)

func TestNearest(t *testing.T) {
	names := []string{"spread", "gather", "ban", "fence", "n1", "N2"}
	for word, want := range map[string]string{
		"sprad": "spread", "Spread": "spread", "gahter": "gather", "bann": "ban", "n2": "N2", "n9": "n1",
		"": "", "x": "", "quarantine": "", "fenc": "fence", strings.Repeat("n", 100): "",
	} {
		if got := suggest.Nearest(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := suggest.Nearest("sprea", nil, []string{"spree"}, []string{"spread"}); got != "spree" {
		t.Errorf("of equals: %q", got)
	}
}
