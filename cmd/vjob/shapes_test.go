package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// shown tells a shape: "8×1000m 512MiB 3600s".
func shown(count int, vm *wire.VMSpec, walltime int64) string {
	return fmt.Sprintf("%d×%dm %dMiB %ds", count, vm.CPUMilli, vm.MemoryMiB, walltime)
}

func allShapes(s *wire.Submission) string {
	list := []string{shown(s.Count, s.Template, s.WalltimeSeconds)}
	for _, x := range s.Shapes {
		list = append(list, shown(x.Count, x.Template, x.WalltimeSeconds)+" "+strings.TrimSpace(x.Rules))
	}
	return strings.TrimSpace(strings.Join(list, "; "))
}

func TestShapeFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--shape count=8,walltime=1h --shape count=4,walltime=2h":            "8×1000m 512MiB 3600s; 4×1000m 512MiB 7200s",
		"--vms 6 --cpu 2 --walltime 30m --shape count=2,walltime=1h,cpu=4":   "6×2000m 512MiB 1800s; 2×4000m 512MiB 3600s",
		"--shape walltime=1h --shape count=2,walltime=30m,mem=1GiB --gather": "1×1000m 512MiB 3600s; 2×1000m 1024MiB 1800s gather($VMS);",
	} {
		s, f := against(t, nil)
		s.ok(append([]string{"submit"}, strings.Fields(line)...)...)
		if got := strings.ReplaceAll(allShapes(&f.submitted), " ;", ";"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"--shape count=8":              `--shape: "count=8" has no walltime: the alternative that ends first is taken`,
		"--shape count=0,walltime=1h":  `--shape: count: "0" is not a number of VMs, 1 or more`,
		"--shape count=2,wall=1h":      `is not a list such as count=4`,
		"--shape walltime=1h,cpu=many": `--shape: cpu: "many" is not`,
	} {
		s, _ := against(t, nil)
		if r := s.run(append([]string{"submit"}, strings.Fields(line)...)...); r.code != cli.ExitInput || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d: %s", line, r.code, r.err)
		}
	}
}

func TestShapesInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mold.yaml")
	text := "count: 8\ntemplate: {cpu: 1, memory: 1GiB}\nwalltime: 1h\nshapes:\n- {count: 4, walltime: 2h}\n- {template: {cpu: 8, memory: 2GiB}, walltime: 90m}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, f := against(t, nil)
	s.ok("submit", file)
	if got, want := strings.ReplaceAll(allShapes(&f.submitted), " ;", ";"), "8×1000m 1024MiB 3600s; 4×1000m 1024MiB 7200s; 1×8000m 2048MiB 5400s"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	s.ok("submit", file, "--shape", "count=2,walltime=3h")
	if got, want := allShapes(&f.submitted), "8×1000m 1024MiB 3600s; 2×1000m 1024MiB 10800s"; got != want {
		t.Errorf("with a flag\n got %s\nwant %s", got, want)
	}
}
