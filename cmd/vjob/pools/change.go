package pools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// noLimit takes a control back.
const noLimit = "none"

// controls are the flags of `vjob pools set`, by the fields of the request.
type controls struct {
	change wire.PoolChange
	flags  *pflag.FlagSet
}

// control is a flag with its field in the request.
type control struct {
	flag, field, help string
	of                func(c *wire.PoolChange) *string
}

var poolControls = []control{
	{"parent", "parent", "`POOL` in which it is; cluster is the cluster itself", func(c *wire.PoolChange) *string { return &c.Parent }},
	{"cpu-reservation", "cpu.reservation", "`CPU` that is kept for what runs in it, such as 8", func(c *wire.PoolChange) *string { return &c.CPU.Reservation }},
	{"cpu-limit", "cpu.limit", "`CPU` that it gets at most, or none", func(c *wire.PoolChange) *string { return &c.CPU.Limit }},
	{"cpu-shares", "cpu.shares", "`SHARES` of CPU beside pools with the same parent: high, normal, low or a number", func(c *wire.PoolChange) *string { return &c.CPU.Shares }},
	{"memory-reservation", "memory.reservation", "`MEMORY` that is kept for what runs in it, such as 32GiB", func(c *wire.PoolChange) *string { return &c.Memory.Reservation }},
	{"memory-limit", "memory.limit", "`MEMORY` that it gets at most, or none", func(c *wire.PoolChange) *string { return &c.Memory.Limit }},
	{"memory-shares", "memory.shares", "`SHARES` of memory, as of CPU", func(c *wire.PoolChange) *string { return &c.Memory.Shares }},
}

func (c *controls) register(flags *pflag.FlagSet) {
	c.flags = flags
	for _, f := range poolControls {
		flags.StringVar(f.of(&c.change), f.flag, "", f.help)
	}
}

// over returns the request: the present controls of the pool with those of the flags in their place.
func (c *controls) over(present wire.PoolChange) wire.PoolChange {
	for _, f := range poolControls {
		if !c.flags.Changed(f.flag) {
			continue
		}
		text := *f.of(&c.change)
		if text == noLimit {
			text = ""
		}
		*f.of(&present) = text
	}
	return present
}

// byFlag returns an error about a field of the request with the name of its flag.
func byFlag(err error) error {
	told, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	for _, f := range poolControls {
		if f.field == told.Field {
			renamed := *told
			renamed.Field, renamed.Message = "--"+f.flag, strings.Replace(told.Message, told.Field, "--"+f.flag, 1)
			return &renamed
		}
	}
	return err
}

// stated returns a pool as a request that would leave it as it is; the zero request for one that does not exist.
func stated(p *wire.Pool) wire.PoolChange {
	if p.Name == "" {
		return wire.PoolChange{}
	}
	amount := func(n int64, unit string) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10) + unit
	}
	limit := func(n *int64, unit string) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10) + unit
	}
	return wire.PoolChange{
		Parent: p.Parent,
		CPU:    wire.PoolControls{Reservation: amount(p.CPU.Reservation, "m"), Limit: limit(p.CPU.Limit, "m"), Shares: strconv.FormatInt(p.CPU.Shares, 10)},
		Memory: wire.PoolControls{Reservation: amount(p.Memory.Reservation, "MiB"), Limit: limit(p.Memory.Limit, "MiB"), Shares: strconv.FormatInt(p.Memory.Shares, 10)},
	}
}

func setCommand(a *cli.App) *cobra.Command {
	var given controls
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "create a pool, or change what the flags say of one (administrators)",
		Long: `Creates a pool, or changes the controls of one that was created so; those without a flag stay as they
are. Pools of the daemon's settings are changed there. It is refused if reservations could not be honoured
then, also those of vjobs that run. docs/how-to/share-the-cluster.md explains pools.`,
		Example: `  vjob pools set physics --cpu-reservation 8 --cpu-shares high
  vjob pools set theory --parent physics --cpu-limit 4
  vjob pools set theory --cpu-limit none`,
		Args: cli.Arguments(1, "the name of a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			err = c.ChangePool(cmd.Context(), args[0], func(present wire.Pool) (wire.PoolChange, error) { return given.over(stated(&present)), nil })
			if err != nil {
				return byFlag(err)
			}
			return list(a, cmd)
		},
	}
	given.register(cmd.Flags())
	return cmd
}

func deleteCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "delete a pool that no vjob uses and that has no pools in it (administrators)",
		Args: cli.Arguments(1, "the name of a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if err := c.DeletePool(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "pool %s is deleted\n", args[0])
			return err
		},
	}
}

func moveCommand(a *cli.App) *cobra.Command {
	pool := ""
	o := &cli.Orders{Verb: "move", Done: "moved", Each: func(ctx context.Context, c *client.Client, id int64) (wire.VJob, error) {
		return c.MoveVJob(ctx, id, pool)
	}, Say: func(j *wire.VJob) string {
		in := "in no pool"
		if j.Pool != "" {
			in = "in pool " + j.Pool
		}
		return fmt.Sprintf("vjob %d is %s now", j.ID, in)
	}}
	cmd := &cobra.Command{
		Use:   "move VJOB... POOL",
		Short: "move vjobs to another pool",
		Long: `Moves vjobs to another pool: "cluster" is in none, "default" that of the project or queue. They go on
running. A move is refused if the pool cannot hold the reservation of the vjob.`,
		Example: `  vjob pools move 12 theory
  vjob pools move --project physics --yes theory`,
		Args: cli.Arguments(-1, "vjobs and a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			words, name, err := o.Operand(cmd, args, "pool", "the name of a pool, cluster or default")
			if err != nil {
				return err
			}
			if pool = name; name == "default" {
				pool = ""
			}
			return o.Run(cmd, words)
		},
	}
	o.Register(a, cmd)
	return cmd
}
