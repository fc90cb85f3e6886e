package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const dayFile = "../../sim/day/testdata/planetlab-60.csv"

// The reference shows what the command prints for the VMs of the tests.
func TestBalanceDay(t *testing.T) {
	s := &shell{t: t}
	page, err := os.ReadFile("../../docs/reference/balance-days.md")
	if err != nil {
		t.Fatal(err)
	}
	svg := filepath.Join(t.TempDir(), "day.svg")
	out := s.ok("balance-day", dayFile, "--nodes", "3x1x24GiB,3x2x24GiB,1x4x48GiB", "--ways", "off,drs,spread", "--svg", svg)
	if !strings.Contains(string(page), out) {
		t.Errorf("docs/reference/balance-days.md does not have\n%s", out)
	}
	if picture := content(t, svg); !strings.Contains(picture, "Balance of planetlab-60") {
		t.Errorf("picture: %.100s", picture)
	}
	var days []struct {
		VMs  int `json:"vms"`
		Ways []struct {
			Happy   float64           `json:"happy_vm_hours"`
			Samples []json.RawMessage `json:"samples"`
		} `json:"ways"`
	}
	out = s.ok("balance-day", "../../sim/day/testdata/bitbrains.cpu_mhz.csv.gz", "--hours", "2", "--ways", "off", "-o", "json")
	if err := json.Unmarshal([]byte(out), &days); err != nil || len(days) != 1 || days[0].VMs != 63 || len(days[0].Ways[0].Samples) != 24 || days[0].Ways[0].Happy < 90 {
		t.Errorf("%v: %.300s", err, out)
	}
	if out := s.ok("balance-day", dayFile, dayFile, "--hours", "1", "--ways", "off"); strings.Count(out, "planetlab-60") != 2 {
		t.Error(out)
	}
}

func TestBalanceDayRefuses(t *testing.T) {
	s := &shell{t: t}
	for _, c := range []struct{ line, want string }{
		{"balance-day", "FILE: missing, want the demands of VMs"},
		{"balance-day no-such-file", `FILE: "no-such-file" is not a file that can be read: no such file or directory`},
		{"balance-day " + dayFile + " --nodes 2x8", `--nodes: "2x8" is not COUNTxPROCESSORSxMEMORY`},
		{"balance-day " + dayFile + " --nodes 1x4x8GiB", `--nodes: too small: VM "vm`},
		{"balance-day " + dayFile + " --ways best", `--ways: "best" is not one of off, drs`},
		{"balance-day " + dayFile + " --hours -1", `--hours: -1 is not 1 or more`},
		{"balance-day " + dayFile + " --memory " + dayFile, `--memory: requires --meta`},
		{"balance-day " + dayFile + " " + dayFile + " --svg x.svg", `FILE: 2 files, want one with --svg`},
		{"balance-day " + dayFile + " --svg " + dayFile, `is the same file as`},
		{"balance-day ../../sim/day/testdata/bitbrains.mem_mb.csv.gz", `is more than 100, want percent of one processor`},
	} {
		s.fails(2, c.want, strings.Fields(c.line)...)
	}
}
