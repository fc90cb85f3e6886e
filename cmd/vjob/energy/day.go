package energy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy/dpm"
	"vjob/energy/price"
	"vjob/internal/chart"
	"vjob/papers/drs"
)

// dayFlags are the flags of `vjob energy day`.
type dayFlags struct {
	hosts, vms, mhz, hours int
	seed                   uint64
	svg, prices            string
	flexible               int
	whole                  bool // as many hours as prices are known, if these are less
	lasts, slack           time.Duration
}

func energyDayCommand(a *cli.App) *cobra.Command {
	f := dayFlags{}
	cmd := &cobra.Command{
		Use:   "day [--svg PICTURE]",
		Short: "simulate days and nights with and without nodes being switched off",
		Long: `Lets a cluster live through days of twelve hours, in which each VM needs 1200 to 2200 MHz, and
nights, in which it needs 500 to 1000, once with all nodes on and once with power management: the
experiment of table 3 of "VMware Distributed Resource Management" (2012). docs/explanation/power-management.md says how
nodes are chosen.

With --prices the days begin with the prices of a file (docs/how-to/use-energy-prices.md), day is from 8 to 20 o'clock
in its zone, and the table tells what the energy costs. With --flexible some of the VMs are jobs,
submitted once a day, and two more runs have each start when its energy costs least within its slack.`,
		Example: `  vjob energy day --svg day.svg
  vjob energy day --prices prices.csv --flexible 100 --lasts 3h --slack 9h --svg day.svg`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.whole = !cmd.Flags().Changed("hours")
			return energyDay(a, &f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.hosts, "nodes", drs.Paper.Hosts, "`NUMBER` of nodes")
	flags.IntVar(&f.vms, "vms", drs.Paper.VMs, "`NUMBER` of VMs")
	flags.IntVar(&f.mhz, "mhz", int(drs.Paper.Host.CPU), "`MHZ` of all processors of a node together")
	flags.IntVar(&f.hours, "hours", int(drs.Paper.Length.Hours()), "how many `HOURS` to simulate")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	flags.StringVar(&f.svg, "svg", "", "draw nodes, demand, power and prices over time into this `FILE`")
	flags.StringVar(&f.prices, "prices", "", "what energy costs: a `FILE`, or - for the standard input")
	flags.IntVar(&f.flexible, "flexible", 0, "`NUMBER` of VMs that are jobs and may wait for a lower price")
	flags.DurationVar(&f.lasts, "lasts", 3*time.Hour, "`TIME` that a job takes")
	flags.DurationVar(&f.slack, "slack", 6*time.Hour, "`TIME` for which its start may be put off")
	return cmd
}

func energyDay(a *cli.App, f *dayFlags) error {
	svg, err := cli.Writable("--svg", f.svg, f.prices)
	if err != nil {
		return err
	}
	c, err := f.config(a)
	if err != nil {
		return err
	}
	manage := dpm.Default
	manage.Trials = 0
	runs := []*dayRun{{Name: "all on"}, {Name: "power management", manage: &manage}}
	if f.flexible > 0 {
		runs = slices.Insert(runs, 1, &dayRun{Name: "all on, jobs wait", waits: true})
		runs = append(runs, &dayRun{Name: "power management, jobs wait", manage: &manage, waits: true})
	}
	for _, r := range runs {
		c.Manage, c.Batch.Waits = r.manage, r.waits
		if r.Result, err = drs.Run(c); err != nil {
			return byDayFlag(err)
		}
		r.sum(&c)
	}
	if err := svg.Write(func(w io.Writer) error { return chart.Write(w, dayFigure(&c, runs)) }); err != nil {
		return err
	}
	return a.Show(runs, func() *display.Table { return dayTable(&c, runs) })
}

// config is what is simulated.
func (f *dayFlags) config(a *cli.App) (drs.Config, error) {
	c := drs.Paper
	c.Hosts, c.VMs, c.Host.CPU, c.Seed = f.hosts, f.vms, cluster.MilliCPU(f.mhz), f.seed
	c.Length = time.Duration(f.hours) * time.Hour
	c.Batch = drs.Batch{VMs: f.flexible, Lasts: f.lasts, Slack: f.slack}
	if f.prices == "" {
		if f.flexible != 0 {
			return c, cluster.Fault("--flexible", "requires --prices: jobs wait for a lower price")
		}
		return c, nil
	}
	text, err := a.ReadInput(f.prices)
	if err != nil {
		return c, err
	}
	if c.Prices, err = price.Parse(string(text)); err != nil {
		return c, cluster.WithPath("--prices", err)
	}
	known := c.Prices.Until().Sub(c.Prices.From()).Truncate(time.Hour)
	switch {
	case f.whole:
		c.Length = min(c.Length, known)
	case c.Length > known:
		return c, cluster.BadField("--hours", f.hours, fmt.Sprintf("at most %d: for so long prices are known", int(known.Hours())))
	}
	c.Start = c.Prices.From().In(c.Prices.Zone())
	c.Since = (time.Duration(c.Start.Hour()+16)*time.Hour + time.Duration(c.Start.Minute())*time.Minute) % (24 * time.Hour)
	return c, nil
}

// byDayFlag names a field by its flag.
func byDayFlag(err error) error {
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
		return cluster.Renamed("--"+bad.Field, bad)
	}
	return err
}

// dayRun is one of the runs.
type dayRun struct {
	drs.Result  `json:"-"`
	manage      *dpm.Settings
	waits       bool
	Name        string  `json:"name"`
	KWh         float64 `json:"energy_kwh"`
	CPU         float64 `json:"cpu_percent"`       // of the whole cluster that was used
	Got         float64 `json:"delivered_percent"` // of what the VMs needed
	Moved       int     `json:"migrations"`
	Off         int     `json:"switched_off"`
	On          int     `json:"switched_on"`
	Nodes       float64 `json:"mean_nodes_on"`
	ShortMinute int     `json:"short_minutes"` // in which a node could not give what was needed
	Price       *paid   `json:"price,omitempty"`
}

// paid is what it costs, where prices are known.
type paid struct {
	Unit string  `json:"unit"` // of the cost
	Cost float64 `json:"cost"`
	Mean float64 `json:"mean_price"` // in the unit of the prices
	Jobs int     `json:"jobs"`
	Wait float64 `json:"mean_wait_minutes"` // of a job
}

func (r *dayRun) sum(c *drs.Config) {
	if c.Prices != nil {
		u := c.Prices.Unit()
		r.Price = &paid{Unit: u.Of, Cost: r.Cost, Mean: r.Cost / u.Amount(r.Energy), Jobs: r.Jobs, Wait: r.Waited.Minutes() / float64(max(1, r.Jobs))}
	}
	r.KWh, r.Moved, r.Off, r.On = r.Energy.KWh(), r.Migrations, r.Offs, r.Ons
	r.CPU = 100 * r.Delivered / (float64(c.Hosts) * float64(c.Host.CPU) * c.Length.Seconds())
	r.Got, r.Nodes, r.ShortMinute = 100*r.Delivered/max(1, r.Demand), r.HostHours/c.Length.Hours(), int(r.Short.Minutes())
}

func dayTable(c *drs.Config, runs []*dayRun) *display.Table {
	heads := "RUN >ENERGY_KWH"
	if c.Prices != nil {
		u := c.Prices.Unit()
		heads += " >" + u.Of + " >" + u.String()
	}
	if c.Batch.VMs > 0 {
		heads += " >JOBS >MEAN_WAIT"
	}
	t := &display.Table{Heads: display.Heads(heads + " >CPU_USED_% >DELIVERED_% >SHORT_MIN >MIGRATIONS >OFF >ON >MEAN_NODES_ON")}
	for _, r := range runs {
		row := []string{r.Name, fmt.Sprintf("%.2f", r.KWh)}
		if p := r.Price; p != nil {
			row = append(row, fmt.Sprintf("%.2f", p.Cost), fmt.Sprintf("%.2f", p.Mean))
		}
		if c.Batch.VMs > 0 {
			row = append(row, strconv.Itoa(r.Jobs), display.Span((r.Waited / time.Duration(max(1, r.Jobs))).Round(time.Minute)))
		}
		t.Row(append(row, fmt.Sprintf("%.2f", r.CPU), fmt.Sprintf("%.3f", r.Got), strconv.Itoa(r.ShortMinute),
			strconv.Itoa(r.Moved), strconv.Itoa(r.Off), strconv.Itoa(r.On), fmt.Sprintf("%.1f", r.Nodes))...)
	}
	return t
}
