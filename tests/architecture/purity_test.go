package architecture_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// pure packages decide: the same input gives the same bytes. They see no clock,
// no chance, no files, no network and start no goroutine.
var pure = of(
	"api/oarapi", "cluster", "cmd/vjob/watch/screen", "cluster/calendar", "ctxswitch", "ctxswitch/duration", "ctxswitch/execute", "ctxswitch/gang",
	"ctxswitch/journal", "ctxswitch/placement", "energy", "energy/budget", "energy/consolidate",
	"energy/dpm", "energy/power/cycle", "energy/cpushare", "energy/solve", "internal/predictor",
	"internal/suggest", "notify", "oar", "oar/admission",
	"oar/launch", "oar/property", "oar/report", "oar/request", "oar/resource", "oar/script",
	"papers/allocation", "papers/jobs/backfill", "papers/drs", "papers/consolidation",
	"queue", "queue/ordering", "queue/fairshare", "queue/forecast", "queue/availability", "queue/quota",
	"queue/multifactor", "queue/reservation", "repack", "repack/admission", "repack/internal/exact", "repack/internal/fill", "repack/internal/pattern", "repack/internal/placement",
	"repack/internal/problem", "repack/internal/proof", "repack/internal/schedule", "repack/rule", "repack/script",
	"repack/solve", "scheduler", "scheduler/nodepower", "scheduler/quarantine", "scheduler/admission", "scheduler/dependency",
	"scheduler/decide", "scheduler/improve", "scheduler/powercap", "scheduler/balance", "scheduler/balance/permit", "scheduler/balance/whatif", "sim/simclock", "tests/powercut/disk",
)

// shells are the files of pure packages that are not: they give the core time and
// carry out what it asks for.
var shells = of(
	"scheduler/board.go", "scheduler/calls.go", "scheduler/desk.go", "scheduler/loop.go", "scheduler/request.go", "scheduler/spare.go", "repack/solve/portfolio.go",
	"api/oarapi/jobs.go", "api/oarapi/oarapi.go", "api/oarapi/orders.go", "api/oarapi/nodes.go", "api/oarapi/query.go", "api/oarapi/reports.go", "api/oarapi/routes.go", "api/oarapi/serialize.go",
	"api/oarapi/site.go", "api/oarapi/submit.go",
	"notify/hook.go", "notify/letters.go", "notify/mail.go", "notify/outbox.go", "notify/poster.go", "notify/public.go",
)

func of(names ...string) []string { return names }

// clock is what of package time asks or waits for the present.
var clock = of("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker")

// seeded is what of math/rand/v2 does not draw from the global source.
var seeded = of("New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf")

// effects are packages by which a decision would depend on more than its input.
var effects = of("crypto/rand", "database/sql", "log", "log/slog", "math/rand", "net", "net/http", "os", "os/exec",
	"os/signal", "runtime", "sync", "sync/atomic", "syscall", "unsafe")

// plain are libraries that depend on their input only: one reads and writes JSON, one keeps sorted maps.
var plain = of("github.com/go-json-experiment/json", "github.com/tidwall/btree")

func decides(s *source) bool {
	return slices.Contains(pure, s.dir()) && !s.test && !slices.Contains(shells, s.path)
}

func TestPurePackagesDependOnInputsOnly(t *testing.T) {
	for _, s := range sources(t) {
		if !decides(&s) {
			continue
		}
		for _, p := range s.imports(t) {
			outside := strings.Contains(strings.Split(p, "/")[0], ".") && !slices.ContainsFunc(plain, func(library string) bool { return strings.HasPrefix(p, library) })
			if slices.Contains(effects, p) || outside {
				t.Errorf("%s imports %s: %s decides, so what it needs of the world comes in as an argument", s.path, p, s.dir())
			}
		}
		timePkg, randPkg := s.local("time"), s.local("math/rand/v2")
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine: pure packages are single-threaded", s.at(n))
			case *ast.SelectorExpr:
				pkg, ok := n.X.(*ast.Ident)
				switch {
				case !ok:
				case pkg.Name == timePkg && slices.Contains(clock, n.Sel.Name):
					t.Errorf("%s calls time.%s: take the time as an argument", s.at(n), n.Sel.Name)
				case pkg.Name == randPkg && !slices.Contains(seeded, n.Sel.Name):
					t.Errorf("%s calls rand.%s: take a seeded *rand.Rand as an argument", s.at(n), n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestPackagesHaveNamesThatSaySomething(t *testing.T) {
	drawers := of("util", "utils", "common", "types", "models", "model", "helpers", "helper", "misc", "base", "shared", "lib")
	for _, s := range sources(t) {
		for _, name := range of(s.file.Name.Name, path.Base(s.dir())) {
			if slices.Contains(drawers, strings.TrimSuffix(name, "_test")) {
				t.Errorf("%s: package %s is a drawer; name it after the one thing that it holds", s.path, name)
			}
		}
	}
}
