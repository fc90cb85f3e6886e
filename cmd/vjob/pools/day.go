package pools

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/chart"
	"vjob/sim/day"
)

// dayFlags are the flags of `vjob balance-day`.
type dayFlags struct {
	nodes, memory, meta, svg string
	ways                     []string
	seed                     uint64
	hours                    int
}

// DayCommand is `vjob balance-day`.
func DayCommand(a *cli.App) *cobra.Command {
	f := dayFlags{}
	cmd := &cobra.Command{
		Use:   "balance-day FILE [FILE ...]",
		Short: "replay recorded demands of VMs with and without balancing",
		Long: `Replays the demands of VMs that were recorded every five minutes on a cluster of unequal nodes, and compares what
moves the VMs:
` + describeWays() + `

A FILE has one VM per line, plain or compressed by gzip: its name, and a value for each five minutes. Values are
percent of one processor (PlanetLab); several files are several days. With --meta they are MHz (Bitbrains), and --meta
names the file with processors, MHz and MB of each VM, --memory that with the MB in use. Of a FILE called
*.cpu_mhz.csv or *.cpu_mhz.csv.gz both are found by their names.

docs/reference/balance-days.md describes files, nodes, the simulation and the columns. Nothing is moved.

Exit codes: 0 done, 2 a file or a flag is wrong.`,
		Example: `  vjob balance-day 20110303.csv.gz --svg day.svg
  vjob balance-day 20110303.csv.gz --nodes 20x8x64GiB,4x32x256GiB --ways off,drs,spread
  vjob balance-day rnd.cpu_mhz.csv.gz --hours 24 -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cluster.Fault("FILE", "missing, want the demands of VMs")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(a, args) },
	}
	flags := cmd.Flags()
	var names []string
	for _, w := range day.Ways() {
		names = append(names, w.Name)
	}
	flags.StringVar(&f.nodes, "nodes", "", "the nodes, `COUNTxPROCESSORSxMEMORY,…`, such as 20x8x32GiB,20x16x64GiB; default: three kinds that suit the day")
	flags.StringVar(&f.meta, "meta", "", "the sizes of the VMs, for values in MHz: a `FILE`")
	flags.StringVar(&f.memory, "memory", "", "the memory that the VMs use: a `FILE`; default: all of it")
	flags.StringVar(&f.svg, "svg", "", "draw happy VMs, imbalance, nodes, power and moves over time into this `FILE`")
	cli.WordsVar(flags, &f.ways, "ways", names, "`WAYS` to compare")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	flags.IntVar(&f.hours, "hours", 0, "only the first `HOURS`; 0 is all")
	cli.Complete(cmd, "ways", names...)
	return cmd
}

// describeWays returns a line for each way.
func describeWays() string {
	var lines []string
	for _, w := range day.Ways() {
		lines = append(lines, fmt.Sprintf("  %-13s %s", w.Name, w.Text))
	}
	return strings.Join(lines, "\n")
}

func (f *dayFlags) run(a *cli.App, files []string) error {
	ways, err := day.WaysNamed("--ways", f.ways)
	if err != nil {
		return err
	}
	if f.hours < 0 {
		return cluster.BadField("--hours", f.hours, "1 or more, or 0 for all")
	}
	if len(files) > 1 && (f.svg != "" || f.meta != "" || f.memory != "") {
		return cluster.Fault("FILE", "%d files, want one with --svg, --meta or --memory", len(files))
	}
	svg, err := cli.Writable("--svg", f.svg, files[0], f.meta, f.memory)
	if err != nil {
		return err
	}
	days := make([]*balancedDay, 0, len(files))
	for _, file := range files {
		d, err := f.day(a, file, ways)
		if err != nil {
			return err
		}
		days = append(days, d)
	}
	if err := svg.Write(func(w io.Writer) error { return chart.Write(w, dayFigure(days[0])) }); err != nil {
		return err
	}
	return a.Show(days, func() *display.Table { return dayTable(days) })
}

// day replays a file in each way.
func (f *dayFlags) day(a *cli.App, file string, ways []day.Way) (*balancedDay, error) {
	t, err := f.read(a, file)
	if err != nil {
		return nil, err
	}
	if f.hours > 0 {
		t.Cut(f.hours * int(time.Hour/day.Step))
	}
	nodes := day.DefaultNodes(t)
	if f.nodes != "" {
		if nodes, err = day.ParseNodes("--nodes", f.nodes); err != nil {
			return nil, err
		}
	}
	d := newBalancedDay(file, t, nodes)
	for _, w := range ways {
		r, err := day.Run(t, nodes, w, f.seed)
		if bad, is := errors.AsType[*cluster.FieldError](err); is && bad.Field == "nodes" {
			return nil, cluster.Renamed("--nodes", err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, w.Name, err)
		}
		d.add(r)
	}
	return d, nil
}

// read reads the demands of a file, and what belongs to it.
func (f *dayFlags) read(a *cli.App, file string) (t *day.Trace, err error) {
	meta, memory := f.meta, f.memory
	if strings.Contains(filepath.Base(file), ".cpu_mhz.csv") {
		meta, memory = beside(meta, file, ".meta.csv"), beside(memory, file, ".mem_mb.csv")
	}
	if meta == "" {
		if memory != "" {
			return nil, cluster.Fault("--memory", "requires --meta: the sizes of the VMs")
		}
		err = a.ReadFrom("FILE", file, func(in io.Reader, name string) error {
			t, err = day.ReadPercent(name, in, f.seed)
			return err
		})
		return t, err
	}
	err = a.ReadFrom("FILE", file, func(cpu io.Reader, name string) error {
		return a.ReadFrom("--meta", meta, func(sizes io.Reader, metaName string) error {
			read := func(used *day.Input) error {
				t, err = day.ReadMHz(day.Input{Name: name, Reader: cpu}, day.Input{Name: metaName, Reader: sizes}, used)
				return err
			}
			if memory == "" {
				return read(nil)
			}
			return a.ReadFrom("--memory", memory, func(in io.Reader, name string) error { return read(&day.Input{Name: name, Reader: in}) })
		})
	})
	return t, err
}

// beside returns the file of a flag, or without one the file beside that of the CPU, if there is one.
func beside(given, file, part string) string {
	if given != "" {
		return given
	}
	other := filepath.Join(filepath.Dir(file), strings.Replace(filepath.Base(file), ".cpu_mhz.csv", part, 1))
	if found, err := filepath.Glob(other); err == nil && slices.Contains(found, other) {
		return other
	}
	return ""
}

func dayTable(days []*balancedDay) *display.Table {
	heads := "WAY >HAPPY_VM-H >HAPPY_% >PAYLOAD_% >MOVES >BACK_<1H >IMBALANCE >HIGHEST >KWH >NODES_ON >USED >CROWDED_H"
	if len(days) > 1 {
		heads = "DAY >VMS >NODES " + heads
	}
	t := &display.Table{Heads: display.Heads(heads)}
	for _, d := range days {
		for i := range d.Ways {
			w := &d.Ways[i]
			row := []string{
				w.Way, fmt.Sprintf("%.0f", w.HappyHours), fmt.Sprintf("%.2f", w.Happy), fmt.Sprintf("%.2f", w.Payload), strconv.Itoa(w.Moves), strconv.Itoa(w.Returns),
				fmt.Sprintf("%.3f", w.Imbalance), fmt.Sprintf("%.3f", w.MostImbalance), fmt.Sprintf("%.1f", w.KWh), fmt.Sprintf("%.1f", w.NodesOn),
				fmt.Sprintf("%.1f", w.NodesUsed), fmt.Sprintf("%.1f", w.CrowdedHours),
			}
			if len(days) > 1 {
				row = append([]string{d.Name, strconv.Itoa(d.VMs), strconv.Itoa(d.NodeCount)}, row...)
			}
			t.Row(row...)
		}
	}
	return t
}
