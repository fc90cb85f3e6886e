package format_test

import (
	"bytes"
	"os"
	"testing"

	"vjob/repack/format"
)

func seeds(f *testing.F, patterns ...string) {
	f.Helper()
	for _, path := range files(f, patterns...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 5000 { // larger ones slow the fuzzer down and teach it nothing
			f.Add(data)
		}
	}
}

// Whatever the bytes are, reading ends without a panic, and what it accepts can be
// written and read again.
func FuzzReadInstance(f *testing.F) {
	seeds(f, "testdata/*.json", "testdata/*.gz")
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := format.ReadInstance(bytes.NewReader(in), "")
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		var b bytes.Buffer
		if err := format.WriteInstance(&b, p); err != nil {
			t.Fatal(err)
		}
		again, err := format.ReadInstance(bytes.NewReader(b.Bytes()), "")
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		want, wantRules := data(p)
		got, gotRules := data(again)
		same(t, want, got)
		same(t, wantRules, gotRules)
	})
}

func FuzzReadPlan(f *testing.F) {
	seeds(f, "testdata/plan.golden")
	p := readFile(f, "testdata/extensions.json")
	f.Fuzz(func(t *testing.T, in []byte) {
		plan, err := format.ReadPlan(bytes.NewReader(in), "", p.Instance)
		if err != nil {
			return
		}
		for i := range plan.Plan.Actions {
			if vm := plan.Plan.Actions[i].VM; vm >= len(p.Instance.VMs) {
				return // a fault of the plan, and nothing that we would write
			}
		}
		var b bytes.Buffer
		if err := format.WritePlan(&b, p.Instance, plan); err != nil {
			t.Fatal(err)
		}
	})
}
