package vjobfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/pattern"
)

// Format writes a submission as a vjob file, with times and sizes in readable notation. [Parse] reads the same
// submission from it.
//
// The encoder of package goccy/go-yaml is not used: in version 1.19.2 it writes texts such as ?, "---" and 1:00:00
// without quotes, and some texts of several lines so that others are read.
func Format(s *wire.Submission) ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("print the vjob: %w", err)
	}
	var tree yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(data, &tree, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("print the vjob: %w", err)
	}
	var b strings.Builder
	mapping(&b, tree, "")
	return []byte(b.String()), nil
}

// mapping writes keys and values, each line after the indent.
func mapping(b *strings.Builder, m yaml.MapSlice, indent string) {
	for _, item := range m {
		key := fmt.Sprint(item.Key)
		value := item.Value
		switch key {
		case "cpu_milli":
			key, value = "cpu", bare(cluster.MilliCPU(whole(value)).String())
		case "memory_mib":
			key, value = "memory", bare(memory(whole(value)))
		case "walltime_seconds":
			key, value = "walltime", bare(walltime(whole(value)))
		}
		b.WriteString(indent + scalar(key, "") + ":")
		switch v := value.(type) {
		case yaml.MapSlice:
			b.WriteByte('\n')
			mapping(b, v, indent+"  ")
		case []any:
			sequence(b, key, v, indent+"  ")
		default:
			b.WriteString(" " + scalar(v, indent+"  ") + "\n")
		}
	}
}

// sequence writes the elements of a list. Steps of work have no readable notation: they stand as JSON.
func sequence(b *strings.Builder, key string, list []any, indent string) {
	b.WriteByte('\n')
	for _, element := range list {
		m, isMapping := element.(yaml.MapSlice)
		switch {
		case isMapping && key == "steps":
			b.WriteString(indent + "- {" + flow(m) + "}\n")
		case isMapping:
			var inner strings.Builder
			mapping(&inner, m, indent+"  ")
			b.WriteString(indent + "- " + strings.TrimPrefix(inner.String(), indent+"  "))
		default:
			b.WriteString(indent + "- " + scalar(element, indent+"  ") + "\n")
		}
	}
}

// flow writes a step on one line.
func flow(m yaml.MapSlice) string {
	var parts []string
	for _, item := range m {
		value := fmt.Sprint(item.Value)
		if list, ok := item.Value.([]any); ok {
			var refs []string
			for _, ref := range list {
				if inner, ok := ref.(yaml.MapSlice); ok {
					refs = append(refs, "{"+flow(inner)+"}")
				}
			}
			value = "[" + strings.Join(refs, ", ") + "]"
		}
		parts = append(parts, fmt.Sprintf("%v: %s", item.Key, value))
	}
	return strings.Join(parts, ", ")
}

// bare is a quantity: it stands without quotes.
type bare string

// plainText is text that YAML reads as text without quotes, but for the words that it takes for values.
var plainText = pattern.New(`^[A-Za-z_./$][A-Za-z0-9_./$@+-]*( [A-Za-z0-9_./$@+(-][A-Za-z0-9_./$@+();=-]*)*$`)

var valueWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"}

// blockText is text that a literal block holds unchanged: lines of printable characters, the first not indented, the
// last with its end.
var blockText = pattern.New(`^[^\s\x00-\x1f\x7f-\x{a0}\x{2028}\x{2029}\x{feff}][^\x00-\x08\x0b-\x1f\x7f-\x{a0}\x{2028}\x{2029}\x{feff}]*[^\s]\n$`)

// scalar writes a number, a truth value or a text. The lines of a block stand after the indent; "" forbids blocks.
func scalar(value any, indent string) string {
	text, ok := value.(string)
	switch {
	case !ok:
		return fmt.Sprint(value)
	case plainText().MatchString(text) && !slices.Contains(valueWords, strings.ToLower(text)):
		return text
	case indent != "" && blockText().MatchString(text):
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			if line != "" {
				lines[i] = indent + line
			}
		}
		return "|\n" + strings.Join(lines, "\n")
	}
	quoted, err := json.Marshal(text) // JSON is YAML
	if err != nil {
		panic(err) // it is text
	}
	return string(quoted)
}

// whole is a whole number of JSON.
func whole(v any) int64 {
	switch n := v.(type) {
	case uint64:
		return int64(n)
	case int64:
		return n
	}
	return 0
}

// memory writes MiB exactly.
func memory(mib int64) string {
	if gib := int64(cluster.GiB); mib > 0 && mib%gib == 0 {
		return fmt.Sprintf("%dGiB", mib/gib)
	}
	return fmt.Sprintf("%dMiB", mib)
}

// walltime is hours:minutes:seconds.
func walltime(seconds int64) string {
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
