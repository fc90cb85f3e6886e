package plan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/vjobs"
)

// readPlace reads --place: a vjob file or a script, or the number or the name of a vjob.
func (f *whatIfFlags) readPlace(ctx context.Context, a *cli.App, w *wire.WhatIf) error {
	if f.place == "" {
		if f.alternatives != 0 {
			return cluster.Fault("--alternatives", "requires --place")
		}
		return nil
	}
	place := wire.VJobName("0")
	w.Place, w.Alternatives = &place, f.alternatives
	_, err := strconv.ParseInt(f.place, 10, 64)
	if _, noFile := os.Stat(f.place); err == nil || noFile != nil && f.place != "-" {
		place = wire.VJobName(f.place)
		return nil
	}
	if w.Submit != nil {
		return cluster.Fault("--place", "excludes --submit: the file of --place is the submission")
	}
	w.Submit, err = readSubmission(ctx, a, "--place", f.place)
	return err
}

// readSubmission reads a vjob file or a script, as `vjob submit` does.
func readSubmission(ctx context.Context, a *cli.App, flag, name string) (*wire.Submission, error) {
	s, err := vjobs.ReadFile(ctx, a, name)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, cluster.BadField(flag, name, "a vjob file or a script: "+path.Error())
	}
	return &s, err
}

// showPlacements lists the placements and the nodes that take no VM.
func showPlacements(a *cli.App, b *strings.Builder, f *wire.WhatIfResult) error {
	if len(f.Placements)+len(f.Refusals) == 0 {
		return nil
	}
	b.WriteString("\nplacements, the best first\n")
	if len(f.Placements) == 0 {
		b.WriteString("  none: no node takes the VMs, even if other VMs move\n")
	} else {
		t := &display.Table{Heads: display.Heads(">RANK NODES >SWITCH WHY")}
		for i := range f.Placements {
			p := &f.Placements[i]
			why := p.Reason
			if len(p.Broken) > 0 {
				why += "; " + strings.Join(p.Broken, "; ")
			}
			t.Row(strconv.Itoa(i+1), placeText(p.Nodes), display.Span(display.Seconds(p.Plan.MakespanSeconds)), why)
		}
		if err := t.Write(b, a.Width()); err != nil {
			return err
		}
	}
	if len(f.Refusals) == 0 {
		return nil
	}
	b.WriteString("\nnodes that take none of its VMs\n")
	var list [][2]string
	for _, node := range slices.Sorted(maps.Keys(f.Refusals)) {
		list = append(list, [2]string{"  " + node, f.Refusals[node]})
	}
	display.Facts(b, list)
	return nil
}

// placeText lists the nodes by rank, with the number of VMs where several neighbours share one.
func placeText(nodes []string) string {
	var parts []string
	for i := 0; i < len(nodes); {
		k := i
		for k < len(nodes) && nodes[k] == nodes[i] {
			k++
		}
		part := nodes[i]
		if k > i+1 {
			part = fmt.Sprintf("%s×%d", part, k-i)
		}
		parts, i = append(parts, part), k
	}
	return strings.Join(parts, " ")
}
