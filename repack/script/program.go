package script

import (
	"fmt"

	"vjob/repack"
	"vjob/repack/rule"
)

// Program is a script that was understood: the calls that its loops come to.
type Program struct {
	Postings []Posting
	Warnings []Diagnostic
	src      *source
}

// Check tells all that is wrong with a script and makes nothing of it. The name is
// for messages.
func Check(name, text string, names Names) []Diagnostic {
	f, rep := parse(name, text)
	_, _ = evaluate(f, names, rule.Catalogue(), rep) // its error is in the report
	return rep.sorted()
}

// Compile understands a script. The error is an [*Error] with all that is wrong.
func Compile(name, text string, names Names) (*Program, error) {
	return compile(name, text, names, rule.Catalogue())
}

func compile(name, text string, names Names, kinds []rule.Kind) (*Program, error) {
	f, rep := parse(name, text)
	return evaluate(f, names, kinds, rep)
}

// Compile understands a file that was read without diagnostics.
func (f *File) Compile(names Names) (*Program, error) {
	return evaluate(f, names, rule.Catalogue(), newReport(f.src))
}

func evaluate(f *File, names Names, kinds []rule.Kind, rep *report) (*Program, error) {
	unread := rep.bad > 0
	e := newEvaluator(names, kinds, rep)
	e.block(&f.Body)
	if !unread && !e.stopped && !rep.full { // else what uses a variable may not have been seen
		e.unused()
	}
	diagnostics := rep.sorted()
	if Refused(diagnostics) {
		return nil, &Error{diagnostics}
	}
	return &Program{e.calls, diagnostics, f.src}, nil
}

// Rules makes the rules for an instance with the numbers of the names. It ignores VMs with
// numbers beyond the instance, and leaves out rules that concern no others. The error is an
// [*Error] that names the calls.
func (p *Program) Rules(in *repack.Instance) ([]repack.Posted, error) {
	rep := newReport(p.src)
	posted := make([]repack.Posted, 0, len(p.Postings))
	for _, c := range p.Postings {
		c, ok := c.Without(func(vm int) bool { return vm >= len(in.VMs) })
		if !ok {
			continue
		}
		r, err := c.Rule(in)
		if err != nil {
			rep.add(c.pos, fmt.Sprint(err), notes(c.Kind)...)
			continue
		}
		penalty := c.Penalty
		if c.Preferred {
			penalty = PreferredPenalty
		}
		posted = append(posted, repack.Posted{Rule: r, Penalty: penalty})
	}
	if rep.bad > 0 {
		return nil, &Error{rep.sorted()}
	}
	return posted, nil
}
