package notify_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/notify"
)

// A subject holds checked names only: no other text of a user, and no character that
// hides or turns text.
func TestSubjectHoldsCheckedNames(t *testing.T) {
	for name, want := range map[string]string{
		"climate-2":                "*OAR* [END]: 3 (climate-2) on frontal",
		"":                         "*OAR* [END]: 3 on frontal",
		"my run":                   "*OAR* [END]: 3 on frontal",
		"x) Pay at https://e.vil/": "*OAR* [END]: 3 on frontal",
		"a\r\nBcc: x@y.z":          "*OAR* [END]: 3 on frontal",
		"\u202egnp.exe":            "*OAR* [END]: 3 on frontal",
		strings.Repeat("a", 5000):  "*OAR* [END]: 3 on frontal",
	} {
		e := journal.Event{Seq: 7, At: time.Unix(0, 0), Text: "vjob 3 has ended: \u202e\u200bwell\r\nBcc: x@y.z"}
		j := cluster.VJob{ID: 3, Owner: "ann", Terms: &cluster.Terms{Labels: map[string]string{"oar.name": name}}}
		m := notify.About(&j, "frontal").Of(&e, notify.End)
		if got := m.Subject(); got != want {
			t.Errorf("name %.20q: subject %.60q, want %q", name, got, want)
		}
		if odd := strings.TrimFunc(m.Body(), func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }); odd != "" {
			t.Errorf("name %.20q: body %.200q", name, m.Body())
		}
	}
}
