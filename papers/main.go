// Command papers reproduces the published values of five papers and prints them beside ours, as
// Markdown tables.
//
// Run it in the root folder of the repository: go run ./papers [PAPER …]. The values are the same in
// every run; times are in docs/BENCHMARKS.md.
package main

import (
	"fmt"
	"io"
	"os"
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
	{Name: "consolidation", Title: `Hermenier, Lorca, Menaud, Muller, Lawall: "Entropy: a Consolidation Manager for Clusters" (2008)`, Figure: consolidation.Figures},
	{Name: "drs", Title: `Gulati, Holler, Ji, Shanmuganathan, Waldspurger, Zhu: "VMware Distributed Resource Management" (2012)`, Figure: drs.Figures},
	{Name: "jobs", Title: `Hermenier: "Online Management of Jobs in Clusters using Virtual Machines", thesis (2009)`, Figure: jobs.Figures},
	{Name: "repacking", Title: `Hermenier, Demassey, Lorca: "Bin Repacking Scheduling in Virtualized Datacenters" (2011)`, Figure: repacking.Figures},
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
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
