package format_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vjob/repack"
	"vjob/repack/format"
	"vjob/tests/golden"
)

// bench is where more instances are, if there are any: the directory of a bench.
func bench() string { return filepath.Join(os.Getenv("BRSP_BENCH"), "instances", "*.gz") }

func readFile(tb testing.TB, path string) *format.Problem {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := format.ReadInstance(bytes.NewReader(content), path)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func read(text string) (*format.Problem, error) {
	return format.ReadInstance(strings.NewReader(text), "in.json")
}

func files(tb testing.TB, patterns ...string) (list []string) {
	tb.Helper()
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, found...)
	}
	return list
}

func packed(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// data is the part of an instance that is no rule; rules are functions and their
// texts stand for them.
func data(p *format.Problem) (repack.Instance, []string) {
	in := *p.Instance
	var rules []string
	for _, r := range in.Rules {
		rules = append(rules, r.String())
	}
	in.Rules = nil
	return in, rules
}

// What was read and written reads the same, and writes the same bytes again.
func TestRoundTrip(t *testing.T) {
	for _, path := range files(t, "testdata/*.json", "testdata/*.gz", bench()) {
		p := readFile(t, path)
		var one, two bytes.Buffer
		if err := format.WriteInstance(&one, p); err != nil {
			t.Fatal(err)
		}
		again, err := format.ReadInstance(bytes.NewReader(one.Bytes()), path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		want, wantRules := data(p)
		got, gotRules := data(again)
		if diff := cmp.Diff(want, got) + cmp.Diff(wantRules, gotRules) + cmp.Diff(p.Constraints, again.Constraints); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if err := format.WriteInstance(&two, again); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: written differently again: %v", path, err)
		}
	}
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the format has beyond the paper is read, and written in one way.
func TestExtensions(t *testing.T) {
	for _, name := range []string{"extensions", "network"} {
		p := readFile(t, "testdata/"+name+".json")
		var b bytes.Buffer
		if err := format.WriteInstance(&b, p); err != nil {
			t.Fatal(err)
		}
		golden.Same(t, "testdata/"+name+".golden", b.String())
	}
}

// One bandwidth is that of all links, and VMs copy their memory if they tell nothing
// else.
func TestNetwork(t *testing.T) {
	in := readFile(t, "testdata/network.json").Instance
	same(t, &repack.Network{NIC: []int64{100, 100, 100}, Uplink: []int64{200, 0}}, in.Network)
	var copies []int64
	for vm := range in.VMs {
		copies = append(copies, in.VMs[vm].Memory)
	}
	same(t, []int64{600, 380, 0}, copies)
}
