package energy

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"vjob/chart"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/plain"
	"vjob/energy/day"
	"vjob/energy/dpm"
)

// dayFlags are the flags of `vjob energy day`.
type dayFlags struct {
	hosts, vms, mhz, hours int
	seed                   uint64
	svg                    string
}

func energyDayCommand(a *cli.App) *cobra.Command {
	f := dayFlags{}
	cmd := &cobra.Command{
		Use:   "day [--svg PICTURE]",
		Short: "simulate days and nights with and without nodes being switched off",
		Long: `Lets a cluster live through days of twelve hours, in which each VM needs 1200 to 2200 MHz, and
nights, in which it needs 500 to 1000, once with all nodes on and once with power management: the
experiment of table 3 of "VMware Distributed Resource Management" (2012). docs/power.md says how
nodes are chosen.`,
		Example: "  vjob energy day --svg day.svg",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return energyDay(a, &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.hosts, "nodes", day.Paper.Hosts, "`NUMBER` of nodes")
	flags.IntVar(&f.vms, "vms", day.Paper.VMs, "`NUMBER` of VMs")
	flags.IntVar(&f.mhz, "mhz", int(day.Paper.Host.CPU), "`MHZ` of all processors of a node together")
	flags.IntVar(&f.hours, "hours", int(day.Paper.Length.Hours()), "how many `HOURS` to simulate")
	flags.Uint64Var(&f.seed, "seed", 1, "of everything that is left to chance")
	flags.StringVar(&f.svg, "svg", "", "draw nodes, demand and power over time into this `FILE`")
	return cmd
}

func energyDay(a *cli.App, f *dayFlags) error {
	svg, err := cli.Writable("--svg", f.svg)
	if err != nil {
		return err
	}
	c := day.Paper
	c.Hosts, c.VMs, c.Host.CPU, c.Seed = f.hosts, f.vms, cluster.MilliCPU(f.mhz), f.seed
	c.Length = time.Duration(f.hours) * time.Hour
	runs := make([]dayRun, 2)
	all := dpm.Default
	all.Trials = 0
	for i, manage := range []*dpm.Settings{nil, &all} {
		c.Manage = manage
		if runs[i].Result, err = day.Run(c); err != nil {
			return err
		}
		runs[i].Name = []string{"all on", "power management"}[i]
		runs[i].sum(&c)
	}
	if err := svg.Write(func(w io.Writer) error { return chart.Write(w, dayFigure(&c, runs)) }); err != nil {
		return err
	}
	return a.Show(runs, func() *plain.Table { return dayTable(runs) })
}

// dayRun is one of the two runs.
type dayRun struct {
	day.Result  `json:"-"`
	Name        string  `json:"name"`
	KWh         float64 `json:"energy_kwh"`
	CPU         float64 `json:"cpu_percent"`       // of the whole cluster that was used
	Got         float64 `json:"delivered_percent"` // of what the VMs needed
	Moved       int     `json:"migrations"`
	Off         int     `json:"switched_off"`
	On          int     `json:"switched_on"`
	Nodes       float64 `json:"mean_nodes_on"`
	ShortMinute int     `json:"short_minutes"` // in which a node could not give what was needed
}

func (r *dayRun) sum(c *day.Config) {
	r.KWh, r.Moved, r.Off, r.On = r.Energy.KWh(), r.Migrations, r.Offs, r.Ons
	r.CPU = 100 * r.Delivered / (float64(c.Hosts) * float64(c.Host.CPU) * c.Length.Seconds())
	r.Got, r.Nodes, r.ShortMinute = 100*r.Delivered/max(1, r.Demand), r.HostHours/c.Length.Hours(), int(r.Short.Minutes())
}

func dayTable(runs []dayRun) *plain.Table {
	t := &plain.Table{Heads: plain.Heads("RUN >ENERGY_KWH >CPU_USED_% >DELIVERED_% >SHORT_MIN >MIGRATIONS >OFF >ON >MEAN_NODES_ON")}
	for i := range runs {
		r := &runs[i]
		t.Row(r.Name, fmt.Sprintf("%.2f", r.KWh), fmt.Sprintf("%.2f", r.CPU), fmt.Sprintf("%.3f", r.Got), strconv.Itoa(r.ShortMinute),
			strconv.Itoa(r.Moved), strconv.Itoa(r.Off), strconv.Itoa(r.On), fmt.Sprintf("%.1f", r.Nodes))
	}
	return t
}

// dayFigure draws both runs on one time scale.
func dayFigure(c *day.Config, runs []dayRun) *chart.Figure {
	f := &chart.Figure{
		Title:    "Nodes on, demand and power",
		Subtitle: fmt.Sprintf("%d nodes of %.0f GHz, %d VMs, seed %d", c.Hosts, float64(c.Host.CPU)/1000, c.VMs, c.Seed),
	}
	for i := range runs {
		r := &runs[i]
		nodes := chart.Series{Name: "nodes on", Unit: "nodes", Capacity: float64(c.Hosts)}
		demand := chart.Series{Name: "CPU needed", Unit: "GHz", Capacity: float64(c.Hosts) * float64(c.Host.CPU) / 1000}
		power := chart.Series{Name: "power", Unit: "kW"}
		for k := 0; k < len(r.Minutes); k += 10 {
			m := &r.Minutes[k]
			nodes.Points = append(nodes.Points, chart.Point{At: m.At, Value: float64(m.On)})
			demand.Points = append(demand.Points, chart.Point{At: m.At, Value: m.Demand / 1000})
			power.Points = append(power.Points, chart.Point{At: m.At, Value: float64(m.Power) / 1000})
		}
		f.Runs = append(f.Runs, chart.Run{
			Title: r.Name, Note: fmt.Sprintf("%.1f kWh", r.KWh), End: c.Length, Series: []chart.Series{nodes, demand, power},
		})
	}
	return f
}
