package architecture_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page that compares vjob with its peers states nothing without a link: a yes of vjob leads to
// a page, its partly and no to a reason, and each cell of a peer to a source.

var (
	ownCell    = regexp.MustCompile(`^(?:\[yes\]\([^)\s]+\)|(?:partly|no)\[\^([\w-]+)\])$`)
	peerCell   = regexp.MustCompile(`^(?:–|\?\[\^[\w-]+\]|\[(yes|partly|no)\]\[([\w-]+)\])$`)
	noteUse    = regexp.MustCompile(`\[\^([\w-]+)\](?:[^:]|$)`)
	noteLine   = regexp.MustCompile(`(?m)^\[\^([\w-]+)\]: (.+\.)$`)
	sourceUse  = regexp.MustCompile(`\]\[([\w-]+)\]`)
	sourceLine = regexp.MustCompile(`(?m)^\[([a-z]+)(-[\w-]+)\]: https://\S+ "[^"]*\d[^"]*"$`)
	peers      = []string{"Slurm", "OAR", "Nomad", "Incus"}
)

// comparisonFaults returns what is wrong with a page of comparison.
func comparisonFaults(text string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	notes := map[string]string{}
	for _, m := range noteLine.FindAllStringSubmatch(text, -1) {
		if notes[m[1]] != "" {
			fault("note %s is defined twice", m[1])
		}
		notes[m[1]] = m[2]
	}
	for _, row := range comparisonRows(text) {
		faults = append(faults, rowFaults(row, notes)...)
	}
	used := map[string]int{}
	for _, m := range noteUse.FindAllStringSubmatch(text, -1) {
		if used["^"+m[1]]++; notes[m[1]] == "" {
			fault("note %s is not defined, or does not end as a sentence", m[1])
		}
	}
	for note := range notes {
		if used["^"+note] != 1 {
			fault("note %s is used %d times, want once", note, used["^"+note])
		}
	}
	sources := map[string]bool{}
	for _, m := range sourceLine.FindAllStringSubmatch(text, -1) {
		if name := m[1] + m[2]; sources[name] {
			fault("source %s is defined twice", name)
		} else {
			sources[name] = true
		}
	}
	for _, m := range sourceUse.FindAllStringSubmatch(text, -1) {
		if used[m[1]]++; !sources[m[1]] {
			fault("source %s is not defined with an address and a version or date", m[1])
		}
	}
	for source := range sources {
		if used[source] == 0 {
			fault("source %s is not used", source)
		}
	}
	slices.Sort(faults)
	return faults
}

// comparisonRows returns the cells of the rows of all tables.
func comparisonRows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// rowFaults returns what is wrong with one row.
func rowFaults(cells []string, notes map[string]string) (faults []string) {
	header := append([]string{"feature", "vjob"}, peers...)
	if cells[0] == header[0] {
		if !slices.Equal(cells, header) {
			faults = append(faults, fmt.Sprintf("header %q, want %q", cells, header))
		}
		return faults
	}
	fault := func(format string, args ...any) {
		faults = append(faults, cells[0]+": "+fmt.Sprintf(format, args...))
	}
	if len(cells) != len(header) {
		fault("%d cells, want %d", len(cells), len(header))
		return faults
	}
	if m := ownCell.FindStringSubmatch(cells[1]); m == nil {
		fault("vjob: %s is neither a yes with a link nor partly or no with a note", cells[1])
	} else if m[1] != "" && !strings.HasPrefix(notes[m[1]], "vjob: ") {
		fault("vjob: the note %s gives no reason of vjob", m[1])
	}
	for i, cell := range cells[2:] {
		m := peerCell.FindStringSubmatch(cell)
		switch {
		case m == nil:
			fault("%s: %s is no word with a source", peers[i], cell)
		case m[2] != "" && !strings.HasPrefix(m[2], strings.ToLower(peers[i])+"-"):
			fault("%s: %s is the source of another system", peers[i], m[2])
		case m[1] == "partly" && !strings.Contains(cells[0], "[^"):
			fault("%s: partly, but the row has no note that says in what", peers[i])
		}
	}
	return faults
}

// TestLinksLeadSomewhere checks the links of the page to other documents.
func TestComparisonHasSources(t *testing.T) {
	page, err := os.ReadFile(path.Join(root, "docs/explanation/comparison.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, fault := range comparisonFaults(text) {
		t.Error(fault)
	}
	count := map[string]int{}
	for _, row := range comparisonRows(text) {
		word := "no"
		switch {
		case row[0] == "feature":
			continue
		case strings.HasPrefix(row[1], "[yes]"):
			word = "yes"
		case strings.HasPrefix(row[1], "partly"):
			word = "partly"
		}
		count[word]++
	}
	open := strings.Count(text, "| ?[^")
	t.Logf("vjob: %v; %d sources; %d cells are open", count, len(sourceLine.FindAllString(text, -1)), open)
	if rows := count["yes"] + count["partly"] + count["no"]; rows < 100 || open > 15 {
		t.Errorf("%d rows, want 100 at least; %d open cells, want 15 at most", rows, open)
	}
}

// TestComparisonFaultsAreFound breaks a small page in each way that the check is for.
func TestComparisonFaultsAreFound(t *testing.T) {
	const page = `| feature | vjob | Slurm | OAR | Nomad | Incus |
| --- | --- | --- | --- | --- | --- |
| arrays | [yes](arrays.md) | [yes][slurm-arrays] | [no][oar-sub] | – | ?[^open] |
| signals[^row] | no[^why] | [partly][slurm-arrays] | – | – | – |

[^open]: No page says it.
[^row]: Slurm sends some.
[^why]: vjob: they do not reach VMs.
[slurm-arrays]: https://slurm.example/array.html "Slurm 25.11"
[oar-sub]: https://oar.example/oarsub.html "OAR 2.5"
`
	if faults := comparisonFaults(page); len(faults) != 0 {
		t.Fatalf("the whole page has faults: %q", faults)
	}
	for _, c := range []struct{ old, now, fault string }{
		{"| Slurm | OAR |", "| OAR | Slurm |", "header"},
		{" ?[^open] |", "", "5 cells, want 6"},
		{"[yes](arrays.md)", "yes", "vjob: yes is neither"},
		{"no[^why]", "no", "vjob: no is neither"},
		{"vjob: they", "They", "gives no reason of vjob"},
		{"[no][oar-sub]", "no", "OAR: no is no word with a source"},
		{"[no][oar-sub]", "[maybe][oar-sub]", "OAR: [maybe][oar-sub] is no word"},
		{"[no][oar-sub]", "[no][slurm-arrays]", "source of another system"},
		{"[no][oar-sub]", "–", "source oar-sub is not used"},
		{"signals[^row]", "signals", "no note that says in what"},
		{"signals[^row]", "signals", "note row is used 0 times"},
		{"[^open]: No page says it.\n", "", "note open is not defined"},
		{`"OAR 2.5"`, `"OAR"`, "source oar-sub is not defined"},
		{"[oar-sub]: https", "[oar-sub]: http", "source oar-sub is not defined"},
	} {
		broken := strings.Replace(page, c.old, c.now, 1)
		if faults := comparisonFaults(broken); !strings.Contains(strings.Join(faults, "\n"), c.fault) {
			t.Errorf("%q in place of %q: %q, want %q", c.now, c.old, faults, c.fault)
		}
	}
}
