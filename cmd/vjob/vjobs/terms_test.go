package vjobs

import (
	"slices"
	"testing"

	"vjob/cluster"
)

func TestParseAfter(t *testing.T) {
	got, err := parseAfter([]string{"12", "afterany:13"})
	if err != nil || len(got) != 2 || got[0].On != 12 || got[0].When != cluster.AfterOK || got[1].On != 13 || got[1].When != cluster.AfterAny {
		t.Errorf("%v, %v", got, err)
	}
	got, err = parseAfter([]string{"ok:prepare", "x", "notok:120[]", "started:sweep[i]", "any:sweep[3]"})
	want := []cluster.Dependency{
		{Name: "prepare"},
		{Name: "x"},
		{On: 120, When: cluster.AfterNotOK, Array: true},
		{Name: "sweep", When: cluster.AfterStart, Array: true, Each: true},
		{Name: "sweep[3]", When: cluster.AfterAny},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "0", "ok", "ok:", "[]", "afterok", "afterok:", "aftr:12", "afterok:12:13"} {
		if got, err := parseAfter([]string{text}); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
