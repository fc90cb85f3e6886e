package energy

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
	"vjob/energy/solve"
)

func energyCheckCommand(a *cli.App) *cobra.Command {
	var in, allocations string
	cmd := &cobra.Command{
		Use:   "check --in INSTANCES --allocations ALLOCATIONS",
		Short: "check allocations from any source",
		Long: `Computes power, yield and the objective of each allocation from first principles and tells
which capacities, yields or budgets it does not keep. An allocation without CPU shares is given
the best equal yield.

Exit codes: 0 all allocations are right, 1 some are wrong, 2 a file or flag is wrong.`,
		Example: "  vjob energy check --in instances.json --allocations allocations.json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return energyCheck(a, in, allocations) },
	}
	flags := cmd.Flags()
	flags.StringVar(&in, "in", "", "the instances: a `FILE`, a folder, or - for the standard input")
	flags.StringVar(&allocations, "allocations", "", "the allocations: a `FILE`, or - for the standard input")
	return cmd
}

// verdict is what a check found.
type verdict struct {
	ID     string   `json:"id"`
	Status string   `json:"status"` // ok, fail (no allocation), missing or wrong
	Y      *float64 `json:"y"`
	Watts  *float64 `json:"e_watts"`
	Z      *float64 `json:"z"`
	Over   *float64 `json:"over_lp_percent"`
	Faults []string `json:"faults"`
}

func energyCheck(a *cli.App, in, allocations string) error {
	if in == cli.Stdin && allocations == cli.Stdin {
		return cluster.Fault("--allocations", "the standard input has the instances, want a file")
	}
	instances, err := readInstances(a, in)
	if err != nil {
		return err
	}
	byID := map[string]format.Allocation{}
	err = a.ReadFrom("--allocations", allocations, func(r io.Reader, name string) error {
		list, err := format.ReadAllocations(r, name, instances)
		for _, one := range list {
			byID[one.ID] = one
		}
		return err
	})
	if err != nil {
		return err
	}
	verdicts, wrong := make([]verdict, len(instances)), 0
	for i, instance := range instances {
		one, there := byID[instance.ID]
		verdicts[i] = judgeAllocation(instance.Problem, one, there)
		if verdicts[i].Status == "wrong" {
			wrong++
		}
	}
	if err := showVerdicts(a, verdicts); err != nil {
		return err
	}
	if wrong > 0 {
		return &cli.ExitError{Code: cli.ExitInvalid, Text: fmt.Sprintf("%d of %d allocations are wrong", wrong, len(byID))}
	}
	return nil
}

func judgeAllocation(p *energy.Problem, one format.Allocation, there bool) verdict {
	v := verdict{ID: p.ID, Status: "missing", Faults: []string{}}
	if !there {
		return v
	}
	v.Status = "fail"
	made := one.Allocation
	if made == nil {
		return v
	}
	if made.CPU == nil {
		equal, ok := p.Equal(made.At)
		if !ok {
			v.Status, v.Faults = "wrong", []string{"there is no yield with which the places will do"}
			return v
		}
		made = equal
	}
	m, faults := p.Check(made)
	watts := float64(m.Power)
	v.Status, v.Y, v.Watts = "ok", &m.Yield, &watts
	if p.Objective == energy.Mixed {
		v.Z = &m.Z
	}
	if len(faults) > 0 {
		v.Status, v.Faults = "wrong", faults
	} else if lp, ok := solve.LPBound(p); ok {
		over := 100 * p.Objective.Gap(p.Objective.Value(m), lp)
		v.Over = &over
	}
	return v
}

func showVerdicts(a *cli.App, list []verdict) error {
	body := struct {
		Allocations []verdict `json:"allocations"`
	}{list}
	return a.Show(body, func() *display.Table {
		t := &display.Table{Heads: display.Heads("INSTANCE STATUS >Y >WATTS >Z >OVER_% FAULTS")}
		number := func(format string, v *float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprintf(format, *v)
		}
		for _, v := range list {
			t.Row(v.ID, v.Status, number("%.4f", v.Y), number("%.1f", v.Watts), number("%.5f", v.Z), number("%.2f", v.Over), strings.Join(v.Faults, "; "))
		}
		return t
	})
}
