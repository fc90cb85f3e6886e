package request_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vjob/oar/request"
)

// writer writes a request in a random spelling, and in the spelling of String.
type writer struct {
	*rand.Rand
	text, meaning strings.Builder
}

func (w *writer) pick(list ...string) string { return list[w.IntN(len(list))] }

func (w *writer) blank() string { return w.pick("", "", "", " ", "  ", "\t") }

func (w *writer) group() {
	if w.IntN(3) == 0 {
		p := w.pick("a='b'", " mem > 40 ", "x = 'a,b+c/d=1' OR y", "NOT (a=1 AND b LIKE '%{%')")
		w.text.WriteString("{" + p + "}" + w.blank())
		w.meaning.WriteString("{" + p + "}")
	}
	w.text.WriteString(w.pick("", "/", "//"))
	for i := range 1 + w.IntN(4) {
		if i > 0 {
			w.text.WriteString("/")
		}
		written := w.pick("nodes", "core", "cluster", "host", "_x9", "resource_id")
		read := strings.Replace(written, "nodes", "network_address", 1)
		count := w.pick("1", "12", "ALL", "BEST", "BESTHALF", "HALF_BEST", "007", "99999999999999999999")
		fmt.Fprintf(&w.text, "%s%s%s=%s%s%s", w.blank(), written, w.blank(), w.blank(), count, w.blank())
		fmt.Fprintf(&w.meaning, "/%s=%s", read, strings.TrimLeft(strings.Replace(count, "HALF_BEST", "BESTHALF", 1), "0"))
	}
}

func (w *writer) walltime() {
	h, m, s := w.IntN(700), w.IntN(200), w.IntN(200)
	d := time.Duration(h) * time.Hour
	text := fmt.Sprint(h)
	if w.IntN(2) == 0 {
		text += fmt.Sprintf(":%0*d", 1+w.IntN(2), m)
		d += time.Duration(m) * time.Minute
		if w.IntN(2) == 0 {
			text += fmt.Sprintf(":%d", s)
			d += time.Duration(s) * time.Second
		}
	}
	fmt.Fprintf(&w.text, "%s,%swalltime%s=%s%s%s", w.blank(), w.blank(), w.blank(), w.blank(), text, w.blank())
	seconds := int(d / time.Second)
	fmt.Fprintf(&w.meaning, ",walltime=%d:%d:%d", seconds/3600, seconds/60%60, seconds%60)
}

// Every spelling of a request parses as the request, without warnings.
func TestSpellings(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 0))}
	for range 20_000 {
		w.text.Reset()
		w.meaning.Reset()
		w.text.WriteString(w.blank())
		for i := range 1 + w.IntN(3) {
			if i > 0 {
				w.text.WriteString(w.blank() + w.pick("+", ",") + w.blank())
				w.meaning.WriteString("+")
			}
			w.group()
		}
		if w.IntN(2) == 0 {
			w.walltime()
		}
		r, err := request.Parse([]string{w.text.String()}, request.DefaultConfig())
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, w.text.String(), err)
		}
		if got := r.Alternatives[0].String(); got != w.meaning.String() || len(r.Warnings) > 0 {
			t.Fatalf("seed %d: %q: %s %v, want %s", seed, w.text.String(), got, r.Warnings, w.meaning.String())
		}
	}
}

const slips = "{}='\"/+,:|;()ax1\x00\xff "

// A request with one wrong character parses as another request, or the error is short and begins with
// OAR's lines.
func TestSlips(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 0))}
	refused := 0
	for range 20_000 {
		w.text.Reset()
		w.group()
		w.walltime()
		text := []byte(w.text.String())
		text[w.IntN(len(text))] = slips[w.IntN(len(slips))]
		_, err := request.Parse([]string{string(text)}, request.DefaultConfig())
		if err == nil {
			continue
		}
		refused++
		first, rest, _ := strings.Cut(err.Error(), "\n")
		rest = strings.TrimPrefix(rest, "# Error: please verify your job submission syntax.\n") // of properties
		if !strings.HasPrefix(first, "# ") || !strings.HasPrefix(rest, "-l:1:") || strings.Count(rest, "\n") != 2 {
			t.Fatalf("seed %d: %q: %v", seed, text, err)
		}
	}
	if refused < 5000 {
		t.Errorf("only %d of 20,000 slips were refused", refused)
	}
}
