package vjobs

import (
	"testing"

	"vjob/cluster"
)

func TestParseAfter(t *testing.T) {
	got, err := parseAfter([]string{"12", "afterany:13"})
	if err != nil || len(got) != 2 || got[0].On != 12 || got[0].When != cluster.AfterOK || got[1].On != 13 || got[1].When != cluster.AfterAny {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "0", "x", "afterok", "afterok:", "aftr:12", "afterok:12:13"} {
		if got, err := parseAfter([]string{text}); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
