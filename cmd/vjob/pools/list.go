package pools

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// list shows the pools of the daemon.
func list(a *cli.App, cmd *cobra.Command) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	pools, err := c.Pools(cmd.Context())
	if err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(pools)
	}
	var b strings.Builder
	if len(pools.Pools) < 2 {
		b.WriteString("no pools; vjob pools set creates one\n")
	}
	if err := writePools(&b, pools.Pools, pools.Divided, a.Width()); err != nil {
		return err
	}
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// writePools writes a table for CPU and one for memory. What was not divided has no demand and no entitlement.
func writePools(w io.Writer, pools []wire.Pool, divided bool, width int) error {
	cpu := &display.Table{Heads: display.Heads("POOL >VJOBS >VMS >CPU_RESERVED >LIMIT >SHARES >DEMAND >ENTITLED >USED")}
	memory := &display.Table{Heads: display.Heads("POOL >MEM_RESERVED >LIMIT >SHARES >DEMAND >ENTITLED >USED")}
	for i := range pools {
		p := &pools[i]
		name := strings.Repeat("  ", p.Depth-pools[0].Depth) + p.Name
		line := func(show func(int64) string, reserved int64, limit *int64, shares, demand, given, used int64) []string {
			cells := []string{show(reserved), "-", strconv.FormatInt(shares, 10), "-", "-", show(used)}
			if limit != nil {
				cells[1] = show(*limit)
			}
			if divided {
				cells[3], cells[4] = show(demand), show(given)
			}
			if p.Parent == "" {
				cells[2] = "-"
			}
			return cells
		}
		c, m := &p.CPU, &p.Memory
		cpu.Row(append([]string{name, strconv.Itoa(p.VJobs), strconv.Itoa(p.VMs)},
			line(display.CPU, c.Reserved, c.Limit, c.Shares, c.Demand, c.Entitlement, c.Used)...)...)
		memory.Row(append([]string{name}, line(display.MiB, m.Reserved, m.Limit, m.Shares, m.Demand, m.Entitlement, m.Used)...)...)
	}
	if err := cpu.Write(w, width); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return memory.Write(w, width)
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "show one pool with its vjobs and VMs; users see their own",
		Args:  cli.Arguments(1, "the name of a pool, or cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			p, err := c.Pool(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(p)
			}
			return showPool(a, &p)
		},
	}
}

func showPool(a *cli.App, p *wire.PoolDetail) error {
	var b strings.Builder
	stated := "the settings of the daemon"
	if p.Stated {
		stated = "an administrator (vjob pools set)"
	}
	if p.Depth > 0 {
		display.Facts(&b, [][2]string{{"pool", p.Name}, {"in", p.Parent}, {"stated by", stated}})
		b.WriteByte('\n')
	}
	if err := writePools(&b, []wire.Pool{p.Pool}, true, a.Width()); err != nil {
		return err
	}
	vms := &display.Table{Heads: display.Heads("VJOB OWNER STATE VM NODE >DEMAND >ENTITLED >WEIGHT >CAP")}
	for i := range p.Members {
		job := &p.Members[i]
		if len(job.VMs) == 0 {
			vms.Row(strconv.FormatInt(job.ID, 10), job.Owner, job.State, "-", "-", "-", "-", "-", "-")
		}
		for _, v := range job.VMs {
			limit := "-"
			if v.CPUCap > 0 {
				limit = display.CPU(v.CPUCap)
			}
			vms.Row(strconv.FormatInt(job.ID, 10), job.Owner, job.State, v.ID, display.Dash(v.Node), display.CPU(v.CPUDemand), display.CPU(v.CPU),
				strconv.Itoa(v.CPUWeight), limit)
		}
	}
	if len(p.Members) > 0 {
		b.WriteByte('\n')
		if err := vms.Write(&b, a.Width()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}
