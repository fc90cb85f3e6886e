package command

import (
	"context"
	"maps"
	"slices"
	"strings"

	"vjob/oar/script"
)

var propertyOptions = []script.OptionSpec{
	{Name: "list", Letter: "l", Meaning: "list the properties"},
	{Name: "add", Letter: "a", Argument: script.TextArgument, Meaning: "not offered: the settings of vjobd have the labels of nodes"},
	{Name: "delete", Letter: "d", Argument: script.TextArgument, Meaning: "not offered"},
	{Name: "rename", Letter: "r", Argument: script.TextArgument, Meaning: "not offered"},
	{Name: "varchar", Letter: "c"},
	{Name: "quiet", Letter: "q"},
}

// listProperties is oarproperty.
func listProperties(ctx context.Context, r *commandRun) error {
	for _, option := range []string{"add", "delete", "rename"} {
		text, given := r.given.Value(option)
		if !given {
			continue
		}
		name, _, _ := strings.Cut(text, ",")
		if slices.Contains(systemProperties, name) {
			return exitError(1, "The property %q is an OAR system property", name)
		}
		return exitError(255, "Properties are labels of nodes: change nodes in the settings of vjobd and run vjob admin reload")
	}
	if !r.has("list") {
		return usageError(1, "")
	}
	if err := r.optionsOnly(); err != nil {
		return err
	}
	list, err := r.nodes(ctx)
	if err != nil {
		return err
	}
	names := map[string]bool{"cpu_milli": true, "memory_mib": true, "network_address": true}
	for i := range list {
		for name := range list[i].Labels {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r.print("%s\n", name)
	}
	return nil
}

var accountingOptions = []script.OptionSpec{
	{Name: "reinitialize", Meaning: "nothing to do"},
	{Name: "delete-before", Argument: script.NumberArgument, Meaning: "not offered: retention in the settings of vjobd says what is kept"},
}

// accounting is oaraccounting.
func accounting(_ context.Context, r *commandRun) error {
	if err := r.optionsOnly(); err != nil {
		return err
	}
	if r.has("reinitialize") {
		r.printError("# Nothing to do: usage is counted at once.")
	}
	if r.has("delete-before") {
		return exitError(1, "Not offered: retention in the settings of vjobd says how long vjobs are kept")
	}
	return nil
}
