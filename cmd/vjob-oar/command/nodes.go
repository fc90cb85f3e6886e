package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/report"
	"vjob/oar/script"
)

var nodesOptions = withFormats(
	script.OptionSpec{Name: "resource", Letter: "r", Argument: script.NumberArgument, Meaning: "only the node with this number"},
	script.OptionSpec{Name: "all", Letter: "a", Meaning: "all that is known, as without it"},
	script.OptionSpec{Name: "state", Letter: "s", Meaning: "only the states"},
	script.OptionSpec{Name: "list", Letter: "l", Meaning: "only the names"},
	script.OptionSpec{Name: "jobs", Letter: "j", Meaning: "only nodes with jobs"},
	script.OptionSpec{Name: "events", Letter: "e", Argument: script.OptionalArgument, Meaning: "not offered: vjob events shows them"},
	script.OptionSpec{Name: "sql", Argument: script.TextArgument, Meaning: "only nodes for which a condition holds, such as \"cluster = 'azur' AND state = 'Alive'\""},
)

// nodes is oarnodes.
func nodes(ctx context.Context, r *commandRun) error {
	switch {
	case r.has("events"):
		return exitError(1, "Events of nodes are not offered here: use vjob events")
	}
	var condition property.Filter
	if r.has("sql") {
		var err error
		if condition, err = r.where(nil); err != nil {
			return err
		}
	}
	list, err := r.nodes(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(n oar.Resource) bool {
		named := len(r.arguments) == 0 || slices.Contains(r.arguments, n.Node)
		numbered := !r.has("resource") || fmt.Sprint(n.ID) == r.value("resource")
		return !named || !numbered || r.has("jobs") && len(n.Jobs) == 0 || !condition.Matches(nodeProperties(&n))
	})
	if len(list) == 0 {
		r.printError(`/!\ No nodes to display...`)
		return nil
	}
	data, err := r.nodesJSON(list)
	if err != nil {
		return err
	}
	if done, err := r.printStructured(data); done || err != nil {
		return err
	}
	switch {
	case r.has("list"):
		r.print("%s", report.NodeNames(list))
	case r.has("state"):
		r.print("%s", report.NodeStates(list))
	default:
		r.print("%s", report.Nodes(list))
	}
	return nil
}

// nodesJSON returns nodes as JSON: their names, states, or all.
func (r *commandRun) nodesJSON(list []oar.Resource) ([]byte, error) {
	switch {
	case r.has("list"):
		return report.NodeNamesJSON(list)
	case r.has("state"):
		return report.NodeStatesJSON(list)
	}
	return nodesByNumber(list)
}

// nodesByNumber formats nodes as an object by their numbers.
func nodesByNumber(list []oar.Resource) ([]byte, error) {
	var b strings.Builder
	for i := range list {
		list[i].Links = nil
		data, err := json.Marshal(&list[i])
		if err != nil {
			return nil, err
		}
		between := ","
		if i == 0 {
			between = "{"
		}
		fmt.Fprintf(&b, "%s\n   \"%d\" : %s", between, list[i].ID, data)
	}
	return []byte(b.String() + "\n}\n"), nil
}

func (r *commandRun) nodes(ctx context.Context) ([]oar.Resource, error) {
	c, err := r.client()
	if err != nil {
		return nil, err
	}
	var page oar.Page[oar.Resource]
	err = c.Get(ctx, "/oarapi/resources", nil, &page)
	return page.Items, err
}

var nodesettingOptions = []script.OptionSpec{
	{Name: "hostname", Letter: "h", Argument: script.TextArgument, Meaning: "the node, by its name"},
	{Name: "resource", Letter: "r", Argument: script.NumberArgument, Meaning: "the node, by its number"},
	{Name: "state", Letter: "s", Argument: script.TextArgument, Meaning: "Alive, or Absent: all VMs are moved away"},
	{Name: "maintenance", Letter: "m", Argument: script.TextArgument, Meaning: "on: Absent, and wait until no VM runs there; off: Alive"},
	{Name: "drain", Letter: "d", Argument: script.TextArgument, Meaning: "on or off: as Absent and Alive, without waiting"},
	{Name: "no-wait", Letter: "n", Meaning: "do not wait"},
	{Name: "add", Letter: "a", Meaning: "not offered: the settings of vjobd have the nodes"},
	{Name: "property", Letter: "p", Argument: script.TextArgument, Meaning: "not offered: the settings of vjobd have the labels of nodes"},
	{Name: "file", Letter: "f", Argument: script.TextArgument},
	{Name: "sql", Argument: script.TextArgument, Meaning: "the nodes for which a condition holds, such as \"cluster = 'azur'\""},
	{Name: "last-property-value", Argument: script.TextArgument},
}

// systemProperties are the properties that cannot be set.
var systemProperties = []string{"state", "resource_id", "network_address", "cpu_milli", "memory_mib", "drain", "next_state", "type"}

// nodesetting is oarnodesetting.
func nodesetting(ctx context.Context, r *commandRun) error {
	to, err := requestedState(r)
	if err != nil {
		return err
	}
	list, err := r.nodes(ctx)
	if err != nil {
		return err
	}
	if list, err = r.selectedNodes(list); err != nil {
		return err
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	for i := range list {
		if err := c.Do(ctx, "POST", "/oarapi/resources/"+url.PathEscape(list[i].Node)+"/state", oar.Change{State: to}, nil); err != nil {
			return err
		}
		r.print("%s --> %s\n", list[i].Node, to)
	}
	if r.value("maintenance") != "on" || r.has("no-wait") {
		return nil
	}
	for i := range list {
		if err := r.waitUntilEmpty(ctx, list[i].Node); err != nil {
			return err
		}
	}
	return nil
}

// selectedNodes returns the nodes that the options select: one by its name or number, or those for which a condition
// holds.
func (r *commandRun) selectedNodes(list []oar.Resource) ([]oar.Resource, error) {
	if !r.has("sql") {
		at := slices.IndexFunc(list, func(n oar.Resource) bool {
			return n.Node == r.value("hostname") || fmt.Sprint(n.ID) == r.value("resource")
		})
		if at < 0 {
			return nil, exitError(4, "The node %q does not exist", r.value("hostname")+r.value("resource"))
		}
		return list[at : at+1], nil
	}
	condition, err := r.where(nil)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(n oar.Resource) bool { return !condition.Matches(nodeProperties(&n)) })
	if len(list) == 0 {
		return nil, exitError(12, `/!\ There are no resource for which %s holds`, oar.Quoted(r.value("sql")))
	}
	return list, nil
}

// requestedState returns the state that the options request.
func requestedState(r *commandRun) (string, error) {
	for _, p := range r.given.Values("property") {
		name, _, _ := strings.Cut(strings.TrimSpace(p), "=")
		if slices.Contains(systemProperties, name) {
			return "", exitError(8, "The property %q is set by the system", name)
		}
	}
	on := func(option string) (string, error) {
		switch r.value(option) {
		case "on":
			return "Absent", nil
		case "off":
			return "Alive", nil
		}
		return "", usageError(1, fmt.Sprintf("Value %q invalid for option %s (on or off expected)", r.value(option), option))
	}
	changes := 0
	for _, option := range []string{"state", "maintenance", "drain"} {
		if r.has(option) {
			changes++
		}
	}
	switch {
	case changes > 1:
		return "", usageError(1, "-s, -m and -d exclude each other")
	case len(r.arguments) > 0:
		return "", usageError(1, fmt.Sprintf("%q is not read: name the node with -h or -r", r.arguments[0]))
	case r.has("add") && (r.has("resource") || r.has("state")):
		return "", usageError(1, "A new node has no number and no state")
	case r.has("add"), r.has("property"), r.has("last-property-value"), r.has("file"):
		return "", exitError(1, "Nodes and their properties are in the settings of vjobd: change nodes there and run vjob admin reload")
	case r.has("sql") && (r.has("hostname") || r.has("resource")):
		return "", usageError(1, "--sql excludes -h and -r")
	case !r.has("hostname") && !r.has("resource") && !r.has("sql"):
		return "", usageError(1, "")
	case r.has("maintenance"):
		return on("maintenance")
	case r.has("drain"):
		return on("drain")
	}
	switch state := r.value("state"); state {
	case "Alive", "Absent":
		return state, nil
	case "Dead", "Suspected":
		return "", exitError(1, "State %s cannot be set: to declare a node down, fence it first, vjob nodes --help", state)
	}
	return "", usageError(1, "")
}

// removeresource is oarremoveresource.
func removeresource(ctx context.Context, r *commandRun) error {
	if len(r.arguments) != 1 {
		return usageError(2, "")
	}
	if _, ok := number(r.arguments[0]); !ok {
		return usageError(2, fmt.Sprintf("%q is no number of a resource: see oarnodes", r.arguments[0]))
	}
	list, err := r.nodes(ctx)
	if err != nil {
		return err
	}
	r.print("Resource to remove: %s\n", r.arguments[0])
	dead := slices.ContainsFunc(list, func(n oar.Resource) bool { return fmt.Sprint(n.ID) == r.arguments[0] && n.State == "Dead" })
	if !dead {
		return exitError(2, `/!\ The state of the resource %s must be set to Dead before.`, r.arguments[0])
	}
	return r.refuseSetting(ctx, "Nodes are in the settings of vjobd: remove the node there and run vjob admin reload")
}

// maxWait is how many seconds the command waits for a node to be empty.
const maxWait = 900

// waitUntilEmpty waits until a node has no VMs.
func (r *commandRun) waitUntilEmpty(ctx context.Context, name string) error {
	for range maxWait {
		list, err := r.nodes(ctx)
		if err != nil {
			return err
		}
		busy := slices.ContainsFunc(list, func(n oar.Resource) bool { return n.Node == name && len(n.Jobs) > 0 })
		if !busy {
			return nil
		}
		if !r.Pause(ctx, pollInterval) {
			return ctx.Err()
		}
	}
	return exitError(11, "Jobs still run on %s after %d seconds", name, maxWait)
}
