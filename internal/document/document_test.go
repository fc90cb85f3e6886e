package document_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/internal/document"
)

type size struct{ cluster.MiB }

func (s *size) UnmarshalText(b []byte) (err error) {
	s.MiB, err = cluster.ParseMiB(string(b))
	return err
}

type sample struct {
	Base
	Count  int            `json:"count"`
	Rate   float64        `json:"rate"`
	Hold   bool           `json:"hold"`
	Memory size           `json:"memory"`
	Words  []string       `json:"words"`
	Labels map[string]int `json:"labels"`
	Inner  *inner         `json:"inner"`
	Many   []inner        `json:"many"`
}

// Base is embedded.
type Base struct {
	Title string `json:"title"`
}

type inner struct {
	Seconds int64 `json:"seconds"`
}

func TestDecode(t *testing.T) {
	const text = `
# a comment
title: "it's 5"
count: 3
rate: 1e3
hold: true
memory: 2GiB
words: [sleep, 10, true, 1.50]
labels: {rack: 4}
inner: &i {seconds: 7}
many: [*i, {seconds: -1}]
`
	got := sample{Hold: false}
	if _, err := document.Decode("f.yaml", []byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := sample{
		Base: Base{Title: "it's 5"}, Count: 3, Rate: 1000, Hold: true, Memory: size{2048},
		Words: []string{"sleep", "10", "true", "1.50"}, Labels: map[string]int{"rack": 4},
		Inner: &inner{7}, Many: []inner{{7}, {-1}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{}, size{})); diff != "" {
		t.Error(diff)
	}
	source := sample{}
	if _, err := document.Decode("f", []byte("title: 010\nwords: [1.50, 0x10, 1e3, null]\nlabels: {a.b: 1, 7: 2}"), &source); err != nil ||
		source.Title != "010" || !slices.Equal(source.Words, []string{"1.50", "0x10", "1e3", ""}) || source.Labels["a.b"] != 1 || source.Labels["7"] != 2 {
		t.Errorf("texts are the source: %+v, %v", source, err)
	}
	json := `{"count": 4, "many": [{"seconds": 2}], "title": null}`
	if _, err := document.Decode("f.json", []byte(json), &got); err != nil || got.Count != 4 || got.Title != "it's 5" {
		t.Errorf("json: %+v, %v", got, err)
	}
	for _, empty := range []string{"", "\n", "# only a comment\n", "---\n"} {
		if _, err := document.Decode("f", []byte(empty), &got); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "conut: 3", `f:1:1: conut: unknown key: want probably count; one of count, hold, inner, labels, many, memory, rate, title, words`},
		{"unknown inner key", "many:\n  - secs: 3\n", `f:2:5: many[0].secs: unknown key: want probably seconds; one of seconds`},
		{"fraction", "count: 2.5", `f:1:8: count: "2.5": want a whole number`},
		{"too large", "count: 99999999999999999999", `f:1:8: count: "99999999999999999999": want a whole number`},
		{"text for a number", "rate: fast", `f:1:7: rate: "fast": want a number`},
		{"text for a bool", "hold: yes", `f:1:7: hold: "yes": want true or false`},
		{"unit", "memory: 2 bananas", `f:1:9: memory: "2 bananas": want a size, such as "512MiB" or "2GiB"`},
		{"list for text", "title: [a]", `f:1:8: title: a list: want text`},
		{"text for a list", "words: a", `f:1:8: words: "a": want a list`},
		{"repeated key", "count: 1\ncount: 2\n", `f:2:1: syntax: "count": want YAML or JSON: mapping key "count" already defined at [1:1]`},
		{"repeated key of JSON", `{"count": 1, "count": 2}`, `f:1:14: syntax: "count": want YAML or JSON: mapping key "count" already defined at [1:2]`},
		{"merge key", "<<: {count: 1}", `f:1:1: <<: unknown key: want one of count, hold, inner, labels, many, memory, rate, title, words`},
		{"tag", "title: !!str 5", `f:1:8: title: !!str: want a value without a tag`},
		{"quoted number", "rate: '5'", `f:1:7: rate: "5": want a number`},
		{"not finite", "rate: nan", `f:1:7: rate: "nan": want a number`},
		{"two documents", "count: 1\n---\ncount: 2\n", `f:3:6: document: a second document: want one document in the file`},
		{"not a mapping", "- a\n", `f:1:1: document: a list: want keys and values`},
		{"binary", "count: 1\n\x01\xff", `f:2:1: syntax: bytes that are no text: want YAML or JSON in UTF-8`},
		{"unknown alias", "inner: *x", `f:1:8: inner: *x: want an anchor that was defined before`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := document.Decode("f", []byte(tt.text), &sample{})
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !errors.Is(err, cluster.ErrInvalid) {
				t.Errorf("%v does not match ErrInvalid", err)
			}
		})
	}
	for _, text := range []string{"a: [", "{", "\tx: 1", "a: b: c", "%", "!!binary x"} {
		if _, err := document.Decode("f", []byte(text), &sample{}); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		} else {
			t.Log(err)
		}
	}
}

func TestLocate(t *testing.T) {
	var s sample
	d, err := document.Decode("f", []byte("inner:\n  seconds: -3\n"), &s)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(d.Locate(cluster.BadField("inner.seconds", -3, "at least 0")))
	if want := "f:2:12: inner.seconds: -3: want at least 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	other := cluster.BadField("count", 0, "at least 1")
	if got := d.Locate(other); !errors.Is(got, other) {
		t.Errorf("a field that is not there: %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("count: 3\nwords: [a, b]\n")
	f.Add(`{"many": [{"seconds": 1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s sample
		_, err := document.Decode("f", []byte(text), &s)
		if err != nil && !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// Deep nesting is refused before parsing.
func TestDepth(t *testing.T) {
	for name, text := range map[string]string{
		"lists": strings.Repeat("[", 200_000), "objects": strings.Repeat(`{"a":`, 100_000), "items": strings.Repeat("- ", 100_000),
	} {
		var into struct{}
		if _, err := document.Decode("f", []byte(text), &into); err == nil || !strings.Contains(err.Error(), "levels") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
