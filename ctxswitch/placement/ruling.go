// Package placement compiles placement rules: those of administrators for the cluster, and those
// of users for their own vjobs, in the language of package script or as a list in YAML or JSON.
// It checks which rules each of them may state, and resolves the names of nodes and VMs.
package placement

import (
	"fmt"
	"strings"

	"vjob/cluster"
	"vjob/repack/script"
	"vjob/repack/script/rulelist"
)

// Rules are rules in the catalogue's language, and their owner.
type Rules struct {
	// VJob is the vjob with the members that the text calls VM0, VM1, …; 0 for rules of the
	// cluster, which calls VMs 12.0, 12.1, ….
	VJob cluster.VJobID
	Text string
}

// field is what messages call the text.
const field = "rules"

// Compile resolves the names. VMs that are not in the index are known all the same:
// the rules do without them. The error is a *cluster.FieldError that says what is
// wrong; rules that passed [Check] or [CheckOwn] have none while the nodes are those
// of then.
func (r Rules) Compile(s *Index) (*script.Program, error) {
	return compile(r.Text, &view{index: s, own: r.VJob != 0, vjob: r.VJob, members: anyNumber})
}

// Check says what is wrong with rules that are to be those of a cluster: with the
// language, with names that mean nothing, or with rules that are not for clusters.
// exists tells which VMs there are; nil believes every number. The error is a
// *cluster.FieldError.
func Check(text string, nodes []cluster.Node, exists func(cluster.VMID) bool) error {
	_, err := compile(text, &view{index: NewIndex(nodes, nil), exists: exists})
	return err
}

// CheckOwn says what is wrong with the rules of a vjob with so many members. The
// error is a *cluster.FieldError.
func CheckOwn(text string, nodes []cluster.Node, members int) error {
	_, err := compile(text, &view{index: NewIndex(nodes, nil), own: true, members: members})
	return err
}

// CheckShares refuses rules of a vjob that keep all others off its nodes, however little it
// takes there, and what [CheckOwn] refuses. The error is a *cluster.FieldError.
func CheckShares(text string, nodes []cluster.Node, members int) error {
	program, err := compile(text, &view{index: NewIndex(nodes, nil), own: true, members: members})
	if err != nil {
		return err
	}
	var problems []script.Diagnostic
	for i := range program.Postings {
		if p := &program.Postings[i]; p.Kind.Name == "lonely" && p.Penalty == 0 {
			problems = append(problems, p.Diagnostic("lonely keeps all other vjobs off the nodes, which quotas do not count: "+
				"it takes a right, rights.whole_nodes; reserve as much as a node has instead"))
		}
	}
	if len(problems) > 0 {
		return wrong(problems)
	}
	return nil
}

// Script is rules in the notation of scripts, so that texts can be put together. What
// cannot be read stays as it is.
func Script(text string) string {
	file, problems := rulelist.Read(field, text)
	if script.Refused(problems) {
		return text
	}
	return script.Format(file)
}

// Set is names as a set in a text: {"n1", "n2"}.
func Set(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = script.Name(n)
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

func compile(text string, names *view) (*script.Program, error) {
	file, problems := names.index.file(text)
	if script.Refused(problems) {
		return nil, wrong(problems)
	}
	program, err := file.Compile(names)
	if err != nil {
		return nil, &cluster.FieldError{Field: field, Text: err.Error()}
	}
	problems = nil
	for i := range program.Postings {
		p := &program.Postings[i]
		if names.own && i == ownRules {
			problems = append(problems, p.Diagnostic(fmt.Sprintf("a vjob states at most %d rules", ownRules)))
			break
		}
		if why := names.refuses(p); why != "" {
			problems = append(problems, p.Diagnostic(why))
		}
		switch p.Values["resource"] {
		case cpu:
			p.Values["resource"] = Dims[0]
		case memory:
			p.Values["resource"] = Dims[1]
		}
	}
	if len(problems) > 0 {
		return nil, wrong(problems)
	}
	return program, nil
}

func wrong(problems []script.Diagnostic) error {
	e := script.Error{Diagnostics: problems}
	return &cluster.FieldError{Field: field, Text: strings.TrimSpace(e.Error())}
}
