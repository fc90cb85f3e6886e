package notify_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/notify"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"mail:ann@example.org":               "ann@example.org",
		"[END, ERROR]mail:ann@example.org":   "ann@example.org END, ERROR",
		"https://example.org/hook?x=1":       "https://example.org/hook?x=1",
		"[RUNNING]http://example.org:8080/a": "http://example.org:8080/a RUNNING",
		"exec:/bin/sh":                       "",
		"mail:":                              "",
		"mail:Ann <ann@example.org>":         "",
		"mail:ann@example.org\r\nBcc: x@y.z": "",
		"[END":                               "",
		"[END]":                              "",
		"[NEVER]mail:ann@example.org":        "",
		"[]mail:ann@example.org":             "",
		"https://":                           "",
		"https://ann:secret@example.org/":    "",
		"file:///etc/passwd":                 "",
		"gopher://example.org":               "",
		"":                                   "",
		"mail:\u202egnp@example.org":         "",
		"mail:" + strings.Repeat("a", 2000) + "@b.c": "",
	} {
		a, err := notify.ParseAddress(text)
		got := a.Mail
		if a.URL != nil {
			got = a.URL.String()
		}
		var tags []string
		for _, tag := range a.Tags {
			tags = append(tags, string(tag))
		}
		if len(tags) > 0 {
			got += " " + strings.Join(tags, ", ")
		}
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// Which hosts a pattern is for.
func TestMatches(t *testing.T) {
	for pattern, hosts := range map[string]map[string]bool{
		"hooks.example.org": {"hooks.example.org": true, "HOOKS.Example.org.": true, "x.hooks.example.org": false, "example.org": false},
		"*.example.org":     {"hooks.example.org": true, "a.b.example.org": true, "example.org": false, "badexample.org": false},
		"*":                 {"anything": true},
	} {
		for host, want := range hosts {
			if got := notify.Matches([]string{pattern}, host); got != want {
				t.Errorf("%s by %s: %t", host, pattern, got)
			}
		}
	}
}

// Each state that users wait for has its tag; other events have none.
func TestTags(t *testing.T) {
	reported := map[notify.Tag]bool{}
	for s := cluster.Waiting; s <= cluster.Failed; s++ {
		if tag, ok := notify.TagOf(&journal.Event{Kind: journal.EventState, VJob: 1, State: s.String()}); ok {
			reported[tag] = true
		}
	}
	for _, tag := range notify.Tags() {
		if !reported[tag] {
			t.Errorf("no event has the tag %s", tag)
		}
	}
	for _, e := range []journal.Event{{Kind: journal.EventPlan, VJob: 1, State: "running"}, {Kind: journal.EventState, State: "running"}, {Kind: journal.EventState, VJob: 1, State: "booting"}} {
		if tag, ok := notify.TagOf(&e); ok {
			t.Errorf("%+v has the tag %s", e, tag)
		}
	}
	a, _ := notify.ParseAddress("[END]mail:a@b.c")
	if a.Wants(notify.Running) || !a.Wants(notify.End) {
		t.Error("tags are ignored")
	}
}

// A message has OAR's subject for its jobs, and no text of a user breaks out of a line.
func TestMessage(t *testing.T) {
	e := journal.Event{Seq: 7, At: time.Unix(0, 0), Text: "vjob 3 has ended: well\r\nBcc: x@y.z"}
	j := cluster.VJob{ID: 3, Name: "n", Owner: "ann", Terms: &cluster.Terms{Labels: map[string]string{"oar.name": "my\nrun"}}}
	m := notify.About(&j, "frontal").Of(&e, notify.End)
	if got := m.Subject(); got != "*OAR* [END]: 3 on frontal" {
		t.Error(got)
	}
	if strings.Contains(m.Body(), "\nBcc") || strings.Contains(m.Body(), "\r") {
		t.Error(m.Body())
	}
	j.Labels = nil
	m = notify.About(&j, "frontal").Of(&e, notify.End)
	if got := m.Subject(); got != "*vjob* [END]: 3 (n) on frontal" {
		t.Error(got)
	}
}

// Pauses grow, and stay within an hour.
func TestPause(t *testing.T) {
	last := time.Duration(0)
	for tries := 1; tries < 100; tries++ {
		pause := notify.Pause(tries)
		if pause < last || pause > time.Hour || pause <= 0 {
			t.Errorf("after %d tries: %s, before that %s", tries, pause, last)
		}
		last = pause
	}
	if last != time.Hour {
		t.Errorf("after 99 tries: %s", last)
	}
}

// An accepted address is harmless.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"mail:a@b.c", "[END]https://x/", "exec:/bin/sh", "[", "mail:\"a b\"@c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := notify.ParseAddress(text)
		if err != nil {
			return
		}
		if (a.Mail == "") == (a.URL == nil) || strings.ContainsAny(a.Mail, "\r\n<>") {
			t.Errorf("%q became %+v", text, a)
		}
	})
}
