// Package figure compares published values with ours.
package figure

import (
	"fmt"
	"io"
)

// Row is one published value and ours.
type Row struct {
	Where     string // section, figure or table of the paper
	What      string
	Published string
	Ours      string // "" if the value is not reproduced
	// Command prints our value. Of a value that is not reproduced it is the reason.
	Command string
}

// Paper is one paper and the rows of its comparison.
type Paper struct {
	Name   string // of its package
	Title  string // with authors and year
	Figure func() ([]Row, error)
	Charts func() []Chart // pictures of our values; may be nil
}

// Chart is an SVG picture.
type Chart struct {
	Name string // of its file
	Draw func(w io.Writer) error
}

// Write prints the comparison as a Markdown table.
func (p *Paper) Write(w io.Writer) error {
	rows, err := p.Figure()
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if _, err := fmt.Fprintf(w, "## %s\n\n%s\n\n| where | what | published | ours | command |\n| --- | --- | --- | --- | --- |\n", p.Name, p.Title); err != nil {
		return err
	}
	for _, r := range rows {
		ours, command := r.Ours, "`"+r.Command+"`"
		if ours == "" {
			ours, command = "not reproduced", r.Command
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.Where, r.What, r.Published, ours, command); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w)
	return err
}
