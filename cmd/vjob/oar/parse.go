package oar

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/oar/property"
	"vjob/oar/request"
)

// parseFlags are the flags of `vjob oar parse`.
type parseFlags struct {
	resources  []string
	properties string
	nodes      string
	defaults   string
	memory     string
	check      bool
}

// Variables of OAR's configuration that change its language. The environment may set them.
const (
	nodesVariable   = "OARSUB_NODES_RESOURCES"
	defaultVariable = "OARSUB_DEFAULT_RESOURCES"
)

func parseCommand(a *cli.App) *cobra.Command {
	var f parseFlags
	cmd := &cobra.Command{
		Use:   "parse [-l REQUEST]... [-p PROPERTIES]",
		Short: "tell what a request of oarsub means here",
		Long: `Reads a request as oarsub does and tells what it means: how many VMs of what size, where, and
for how long. With -o json it prints what was read. With --check it also asks vjobd for the
nodes: whether they suffice, and which rules would place the VMs.

Input that OAR accepts but users rarely mean gets a warning.

Exit codes: 0 it can be read, 18 it cannot, 8 the properties cannot or there is not enough.`,
		Example: `  vjob oar parse -l "cluster=1/nodes=4/core=2,walltime=1:30:0"
  vjob oar parse -l "{mem > 64}/nodes=2+core=1" -p "cluster = 'azur'" --check`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runParse(cmd.Context(), a, &f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.resources, "resource", "l", nil, "a `REQUEST` as for oarsub; several are alternatives")
	flags.StringVarP(&f.properties, "property", "p", "", "`PROPERTIES` that the nodes must have")
	flags.StringVar(&f.nodes, "nodes-resources", a.Getenv(nodesVariable), "the `NAME` that nodes stands for; also "+nodesVariable+" (default network_address)")
	flags.StringVar(&f.defaults, "default-resources", a.Getenv(defaultVariable), "the `LEVELS` where none are given; also "+defaultVariable+" (default /resource_id=1)")
	flags.StringVar(&f.memory, "mem", "", "with --check: the memory of each VM, a `SIZE` such as 2GiB (default: its share of its node)")
	flags.BoolVar(&f.check, "check", false, "ask vjobd whether its nodes suffice, and show the rules")
	return cmd
}

func runParse(ctx context.Context, a *cli.App, f *parseFlags) error {
	w, err := f.read()
	if err != nil {
		return oarError(a, err)
	}
	for _, warning := range w.Request.Warnings {
		printError(a, warning.String())
	}
	var placements []request.Placement
	if f.check {
		nodes, err := clusterInventory(ctx, a)
		if err != nil {
			return err
		}
		if placements, err = request.Place(w, nodes, request.DefaultConfig()); err != nil {
			return oarError(a, err)
		}
	}
	if a.Structured() {
		return a.Print(requestJSON(w))
	}
	return oarError(a, explain(a, w, placements))
}

// read parses the request and the properties.
func (f *parseFlags) read() (w request.Spec, err error) {
	site := request.DefaultConfig()
	site.NodesAlias = cmp.Or(f.nodes, site.NodesAlias)
	if f.defaults != "" {
		if site.Default, err = request.ParseDefault("--default-resources", f.defaults, site); err != nil {
			return w, err
		}
	}
	if w.Request, err = request.Parse(f.resources, site); err != nil {
		return w, err
	}
	filter, err := property.Parse("-p", f.properties)
	if err != nil {
		return w, err
	}
	w.Filters = []property.Filter{filter}
	if f.memory != "" {
		memory, err := cli.ParseMemory("--mem", f.memory)
		w.Memory = cluster.MiB(memory)
		return w, err
	}
	return w, nil
}

// clusterInventory returns the nodes of vjobd.
func clusterInventory(ctx context.Context, a *cli.App) (w request.Inventory, err error) {
	c, err := a.Client()
	if err != nil {
		return w, err
	}
	list, err := c.Nodes(ctx)
	if err != nil {
		return w, err
	}
	w.Free = map[cluster.NodeID]bool{}
	for _, n := range list.Nodes {
		state, err := cluster.ParseNodeState(n.State)
		if err != nil {
			return w, err
		}
		id := cluster.NodeID(n.Name)
		w.Free[id] = len(n.VMs) == 0 && !n.Silent
		w.Nodes = append(w.Nodes, cluster.Node{
			ID: id, State: state, Labels: n.Labels,
			Capacity: cluster.Resources{CPU: cluster.MilliCPU(n.CPUMilli), Memory: cluster.MiB(n.MemoryMiB)},
		})
	}
	return w, nil
}
