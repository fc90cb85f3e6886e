package main

import (
	"os"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/tests/golden"
)

// The reference shows what the command prints for the example.
func TestPoolsEntitle(t *testing.T) {
	s := &shell{t: t}
	page, err := os.ReadFile("../../docs/reference/pool-files.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := s.ok("pools", "entitle", "../../examples/pools/two-groups.yaml"); !strings.Contains(string(page), out) {
		t.Errorf("docs/reference/pool-files.md does not have\n%s", out)
	}
	if out := s.ok("pools", "entitle", "-o", "json", "../../examples/pools/two-groups.yaml"); !strings.Contains(out, `"cpu_milli": 13333`) {
		t.Error(out)
	}
}

// The reference shows what the command prints for the example, and its example of every key is valid.
func TestBalance(t *testing.T) {
	s := &shell{t: t}
	page, err := os.ReadFile("../../docs/reference/pool-files.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := s.ok("balance", "../../examples/pools/balance.yaml"); !strings.Contains(string(page), out) {
		t.Errorf("docs/reference/pool-files.md does not have\n%s", out)
	}
	if out := s.ok("balance", "-o", "json", "../../examples/pools/balance.yaml"); !strings.Contains(out, `"number": 2`) {
		t.Error(out)
	}
	if out := s.ok("pools", "entitle", "../../examples/pools/balance.yaml"); !strings.Contains(out, "production") {
		t.Error(out)
	}
	_, rest, _ := strings.Cut(string(page), "## Balance")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	file, _, _ := strings.Cut(rest, "```")
	path := t.TempDir() + "/every-key.yaml"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("balance", path)
}

// Commands that need two arguments say which one is missing.
func TestOneArgumentOfTwo(t *testing.T) {
	s, _ := against(t, busyCluster())
	for line, want := range map[string]string{
		"walltime 12":   "time: missing, want the new walltime",
		"moves 12":      "mode: missing, want automatic, manual or never",
		"pools move 12": "pool: missing, want the name of a pool",
	} {
		s.fails(2, want, strings.Fields(line)...)
	}
}

// Flags that are absent keep what the pool has; none takes a limit back.
func TestPoolsSet(t *testing.T) {
	s, f := against(t, busyCluster())
	for line, want := range map[string]string{
		"pools set physics --cpu-limit 4":                            `{"parent":"cluster","cpu":{"reservation":"2000m","limit":"4","shares":"2000"},"memory":{"shares":"1000"}}`,
		"pools set physics --cpu-reservation none --memory-shares 7": `{"parent":"cluster","cpu":{"shares":"2000"},"memory":{"shares":"7"}}`,
		"pools set theory --cpu-limit none --parent cluster":         `{"parent":"cluster","cpu":{"shares":"500"},"memory":{"shares":"1000"}}`,
		"pools set new --cpu-shares high":                            `{"cpu":{"shares":"high"}}`,
	} {
		s.ok(strings.Fields(line)...)
		if f.pool != want {
			t.Errorf("%s\nsent %s\nwant %s", line, f.pool, want)
		}
	}
}

// Without recommendations the command says why, and which command says more.
func TestNoRecommendations(t *testing.T) {
	s, _ := against(t, map[string]any{"/v1/recommendations": wire.RecommendationList{
		Recommendations: []wire.Recommendation{}, NotMade: []wire.NotMade{
			{Kinds: []string{"balance"}, Why: "no move lowers the imbalance of 0.210 by 0.005 and is possible and worth its cost; n1 is held back: 2 fixed: held by its owner (never) (3.0)", See: "vjob balance"},
			{Kinds: []string{"start", "drain", "power"}, Why: "automatic: changes begin without approval (automation in the settings)", See: "vjob recommendations --all"},
		},
	}})
	golden.Same(t, "testdata/no-recommendations.golden", s.ok("recommendations"))
	s, _ = against(t, map[string]any{"/v1/recommendations": wire.RecommendationList{Recommendations: []wire.Recommendation{}}})
	if out := s.ok("recommendations", "--state", "expired"); !strings.HasPrefix(out, "No recommendations match.") {
		t.Error(out)
	}
}
