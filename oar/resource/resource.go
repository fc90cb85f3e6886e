// Package resource lists the processors of the VMs of a job in the form of OAR's resource files, and
// prints such lists as oarprint does.
//
// A line of a file is a processor: name = 'value' pairs, separated by commas. The start script of a job
// (package launch) writes such a file in the first VM; [Of] returns the same list outside, with what is
// known of the nodes.
package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/oar"
)

// Property is a property of a resource.
type Property struct{ Name, Value string }

// Resource is a processor of a VM, by its properties, in the order of the file.
type Resource []Property

// VM is a VM of a job.
type VM struct {
	CPU    cluster.MilliCPU
	Node   string            // "" without one
	Labels map[string]string // of the node
}

// Of returns the processors of the VMs of a job, by rank. A part of a processor counts as one.
func Of(job cluster.VJobID, vms []VM) (list []Resource) {
	for rank, vm := range vms {
		guest := cluster.GuestName(cluster.VMID{VJob: job, Rank: rank})
		for cpu := range max(1, int((vm.CPU+cluster.CPU-1)/cluster.CPU)) {
			number := fmt.Sprint(len(list) + 1)
			r := Resource{
				{"network_address", guest},
				{"host", guest},
				{"cpu", fmt.Sprint(rank + 1)},
				{"core", number},
				{"cpuset", fmt.Sprint(cpu)},
				{"resource_id", number},
			}
			if vm.Node != "" {
				r = append(r, Property{"node", vm.Node})
			}
			for _, name := range slices.Sorted(maps.Keys(vm.Labels)) {
				if _, taken := r.Value(name); !taken {
					r = append(r, Property{name, vm.Labels[name]})
				}
			}
			list = append(list, r)
		}
	}
	return list
}

// Value returns the value of a property.
func (r Resource) Value(name string) (value string, ok bool) {
	for _, p := range r {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// String returns the resource as a line of a file, without its end.
func (r Resource) String() string {
	words := make([]string, len(r))
	for i, p := range r {
		words[i] = p.Name + " = '" + quoter.Replace(p.Value) + "'"
	}
	return strings.Join(words, " , ")
}

var quoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// Parse reads a resource file; name is that of the file in messages. Empty lines are ignored.
func Parse(name, text string) (list []Resource, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		r, why := parseLine(line)
		if why != "" {
			return nil, &oar.Error{Exit: ExitPrint, OAR: fmt.Sprintf("oarprint: %s:%d: %s: want name = 'value', separated by commas", oar.Printable(name), number, why)}
		}
		list = append(list, r)
	}
	return list, nil
}

// ExitPrint is the exit code of oarprint for input that it cannot print.
const ExitPrint oar.Exit = 255

// parseLine parses a line; why is the fault, or "". Names begin where a value ends; an undefined value of OAR is
// written without quotes.
func parseLine(line string) (r Resource, why string) {
	for rest := line; ; {
		name, after, ok := strings.Cut(rest, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " ',") {
			return nil, fmt.Sprintf("%q is no property", cluster.Shortened(rest, 40))
		}
		var value string
		after = strings.TrimSpace(strings.TrimPrefix(after, ">"))
		if strings.HasPrefix(after, "'") {
			if value, after, ok = quoted(after[1:]); !ok {
				return nil, fmt.Sprintf("the value of %s has no end", name)
			}
		} else {
			end := strings.IndexByte(after, ',')
			if end < 0 {
				end = len(after)
			}
			value, after = strings.TrimSpace(after[:end]), after[end:]
		}
		r = append(r, Property{name, value})
		after = strings.TrimSpace(after)
		if strings.Trim(after, ", ") == "" {
			return r, ""
		}
		if rest, ok = strings.CutPrefix(after, ","); !ok {
			return nil, fmt.Sprintf("%q follows the value of %s", cluster.Shortened(after, 40), name)
		}
	}
}

// quoted splits a text behind the quote that ends its value.
func quoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case text[i] == '\'':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", false
}
