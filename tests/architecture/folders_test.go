package architecture_test

import (
	"fmt"
	"go/doc"
	"maps"
	"slices"
	"strings"
	"testing"

	"vjob/tests/golden"
)

// folder is a top-level folder of source code.
type folder struct{ name, holds string }

// folders lists the top-level folders from the bottom up: the packages of a folder import only
// packages of their own folder and of folders above it in this list.
var folders = []folder{
	{"cluster", "the vocabulary: vjobs, VMs, nodes, resources, configurations, calendars"},
	{"internal", "small helpers: charts, files that users write, suggestions of names, demand prediction"},
	{"energy", "power models, budgets, CPU shares, consolidation, node power"},
	{"hypervisor", "the interface to nodes, the libvirt and the simulated driver"},
	{"repack", "the planner, usable as a library: model, rules, rule language, solver"},
	{"queue", "policies, priorities, quotas, reservations, forecast"},
	{"ctxswitch", "the context switch: plan, protocol of one vjob, execution, journal"},
	{"scheduler", "the loop, admission, dependencies, decisions"},
	{"notify", "mails and web hooks, and their delivery"},
	{"oar", "OAR's language: requests, properties, admission, reports"},
	{"api", "REST server, wire types, Go client, OAR's REST dialect"},
	{"db", "the store: SQLite, on disk and in memory"},
	{"daemon", "wiring and settings"},
	{"sim", "virtual time, replay of logs and workloads"},
	{"papers", "five papers reproduced, a package each"},
	{"cmd", "the programs"},
	{"tests", "simulation, scenarios, mutants, lab, end to end, architecture"},
}

// drivers are imported only where the parts are joined.
var drivers = map[string][]string{
	"hypervisor/libvirt":   {"daemon", "tests"},
	"hypervisor/simulated": {"daemon", "sim", "papers", "cmd", "tests"},
}

func rank(pkg string) int {
	top, _, _ := strings.Cut(pkg, "/")
	return slices.IndexFunc(folders, func(f folder) bool { return f.name == top })
}

func TestFoldersImportDownwards(t *testing.T) {
	for _, s := range sources(t) {
		from := rank(s.dir())
		if from < 0 {
			t.Errorf("%s: the folder has no row: add it to tests/architecture/folders_test.go, then run: go test ./tests/architecture -update", s.path)
			continue
		}
		if s.test {
			continue
		}
		for _, p := range s.imports(t) {
			pkg, ok := ours(p)
			if !ok {
				continue
			}
			if rank(pkg) > from {
				t.Errorf("%s imports %s, which is above it: declare an interface where it is used, and join the two in daemon or cmd", s.path, pkg)
			}
			if may := drivers[pkg]; may != nil && folders[from].name != "hypervisor" && !slices.Contains(may, folders[from].name) {
				t.Errorf("%s imports the driver %s: only %v do", s.path, pkg, may)
			}
		}
	}
}

func TestFoldersAreFew(t *testing.T) {
	const most = 16 // and tests
	if n := len(folders) - 1; n > most {
		t.Errorf("%d top-level folders of source code, want at most %d", n, most)
	}
	have := map[string]bool{}
	for _, s := range sources(t) {
		have[strings.Split(s.path, "/")[0]] = true
	}
	for _, f := range folders {
		if !have[f.name] {
			t.Errorf("the folder %s has a row and no source: remove the row", f.name)
		}
	}
}

const (
	beginFolders  = "<!-- folders: written by go test ./tests/architecture -update -->\n"
	beginPackages = "<!-- packages: written by go test ./tests/architecture -update -->\n"
	end           = "<!-- end -->\n"
)

func TestDocumentShowsTheFolders(t *testing.T) {
	document := root + "/docs/ARCHITECTURE.md"
	golden.Passage(t, document, beginFolders, end, renderFolders(t))
	golden.Passage(t, document, beginPackages, end, renderPackages(t))
}

// renderFolders shows what each folder holds and which it imports.
func renderFolders(t *testing.T) string {
	t.Helper()
	used := map[string]map[string]bool{}
	for _, s := range sources(t) {
		for _, p := range s.imports(t) {
			pkg, ok := ours(p)
			from, to := strings.Split(s.path, "/")[0], strings.Split(pkg, "/")[0]
			if !ok || s.test || from == to {
				continue
			}
			if used[from] == nil {
				used[from] = map[string]bool{}
			}
			used[from][to] = true
		}
	}
	var b strings.Builder
	b.WriteString("| folder | holds | imports |\n| --- | --- | --- |\n")
	for _, f := range folders {
		imports := slices.SortedFunc(maps.Keys(used[f.name]), func(a, b string) int { return rank(a) - rank(b) })
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, f.holds, strings.Join(imports, ", "))
	}
	return b.String()
}

// renderPackages shows the first sentence on each package.
func renderPackages(t *testing.T) string {
	t.Helper()
	says := map[string]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if s.file.Doc == nil {
			says[s.dir()] += ""
			continue
		}
		says[s.dir()] = new(doc.Package).Synopsis(s.file.Doc.Text())
	}
	var b strings.Builder
	b.WriteString("| package | does |\n| --- | --- |\n")
	for _, pkg := range slices.SortedFunc(maps.Keys(says), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	}) {
		words, mark := strings.SplitN(says[pkg], " ", 3), "" // "Package", its name, the rest
		if slices.Contains(pure, pkg) {
			mark = " ◆"
		}
		if len(words) < 3 {
			t.Errorf("package %s has no comment that says what it does", pkg)
			continue
		}
		fmt.Fprintf(&b, "| `%s`%s | %s |\n", pkg, mark, words[2])
	}
	return b.String()
}
