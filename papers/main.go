// Command papers reproduces the published values of five papers and prints them beside ours, as
// Markdown tables.
//
// Run it in the root folder of the repository: go run ./papers [-charts FOLDER] [PAPER …]. With a folder it
// also draws charts there. The values are the same in every run; times are in docs/BENCHMARKS.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vjob/papers/allocation"
	"vjob/papers/consolidation"
	"vjob/papers/drs"
	"vjob/papers/figure"
	"vjob/papers/jobs"
	"vjob/papers/repacking"
)

// papers are the five papers, by the names of their packages.
var papers = []figure.Paper{
	{Name: "allocation", Title: `Borgetto, Casanova, Da Costa, Pierson: "Energy-Aware Service Allocation" (2010)`, Figure: allocation.Figures},
	{Name: "consolidation", Title: `Hermenier, Lorca, Menaud, Muller, Lawall: "Entropy: a Consolidation Manager for Clusters" (2008)`, Figure: entropy},
	{Name: "drs", Title: `Gulati, Holler, Ji, Shanmuganathan, Waldspurger, Zhu: "VMware Distributed Resource Management" (2012)`, Figure: drs.Figures, Charts: drs.Charts},
	{Name: "jobs", Title: `Hermenier: "Online Management of Jobs in Clusters using Virtual Machines", thesis (2009)`, Figure: jobs.Figures},
	{Name: "repacking", Title: `Hermenier, Demassey, Lorca: "Bin Repacking Scheduling in Virtualized Datacenters" (2011)`, Figure: repacking.Figures},
}

// entropy returns the rows of the Entropy paper. Its experiment on a cluster is that of the thesis.
func entropy() ([]figure.Row, error) {
	rows, err := consolidation.Figures()
	if err != nil {
		return nil, err
	}
	dynamic, err := jobs.Consolidation("Figure 15, §5.2", "Figure 14", "Figure 16")
	return append(rows, dynamic...), err
}

func main() {
	charts := flag.String("charts", "", "draw charts into this `FOLDER`")
	flag.Parse()
	err := run(os.Stdout, flag.Args())
	if err == nil && *charts != "" {
		err = draw(*charts, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

// run prints the comparison of the named papers, or of all.
func run(out io.Writer, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(papers, func(p figure.Paper) bool { return p.Name == name }) {
			known := make([]string, len(papers))
			for i := range papers {
				known[i] = papers[i].Name
			}
			return fmt.Errorf("%s: unknown paper, want one of %s", name, strings.Join(known, ", "))
		}
	}
	for i := range papers {
		if p := &papers[i]; len(names) == 0 || slices.Contains(names, p.Name) {
			if err := p.Write(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw writes the charts of the named papers, or of all, into a folder.
func draw(folder string, names []string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for i := range papers {
		p := &papers[i]
		if p.Charts == nil || len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		for _, c := range p.Charts() {
			f, err := os.Create(filepath.Join(folder, c.Name))
			if err != nil {
				return err
			}
			if err := errors.Join(c.Draw(f), f.Close()); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}
