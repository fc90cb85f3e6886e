package script

import (
	"fmt"
	"slices"

	"vjob/oar"
)

// Option is an option with its value.
type Option struct {
	Name  string // the long name, without dashes
	Value string // "" if the option takes no value
	Line  int    // line of the script; 0 on the command line
}

// Options are the options of a script or a command line, in order.
type Options []Option

// Values returns all values of an option.
func (o Options) Values(name string) (list []string) {
	for _, x := range o {
		if x.Name == name {
			list = append(list, x.Value)
		}
	}
	return list
}

// Value returns the last value of an option. given is false if the option is missing.
func (o Options) Value(name string) (value string, given bool) {
	for _, x := range slices.Backward(o) {
		if x.Name == name {
			return x.Value, true
		}
	}
	return "", false
}

// argument is the kind of value that an option takes.
type argument uint8

const (
	noArgument argument = iota
	textArgument
	numberArgument
)

// scriptOption describes an option.
type scriptOption struct {
	name  string
	short string // one letter, or ""
	takes argument
	added bool // values of script and command line add up
}

// scriptOptions are the options of oarsub that OAR's manual allows in a script.
var scriptOptions = []scriptOption{
	{"resource", "l", textArgument, true},
	{"queue", "q", textArgument, false},
	{"property", "p", textArgument, false},
	{"type", "t", textArgument, true},
	{"anterior", "a", numberArgument, true},
	{"checkpoint", "", numberArgument, false},
	{"signal", "", numberArgument, false},
	{"notify", "", textArgument, false},
	{"directory", "d", textArgument, false},
	{"name", "n", textArgument, false},
	{"project", "", textArgument, false},
	{"hold", "", noArgument, false},
	{"stdout", "O", textArgument, false},
	{"stderr", "E", textArgument, false},
	{"use-job-key", "k", noArgument, false},
	{"import-job-key-inline-priv", "", textArgument, false},
	{"import-job-key-from-file", "i", textArgument, false},
	{"export-job-key-to-file", "e", textArgument, false},
	{"stagein", "s", textArgument, false},
	{"stagein-md5sum", "", textArgument, false},
	{"array", "", numberArgument, false},
	{"array-param-file", "", textArgument, false},
}

// findOption returns the option with a long name.
func findOption(name string) (scriptOption, bool) {
	i := slices.IndexFunc(scriptOptions, func(k scriptOption) bool { return k.name == name })
	if i < 0 {
		return scriptOption{}, false
	}
	return scriptOptions[i], true
}

// findLetter returns the option with a letter.
func findLetter(short string) (scriptOption, bool) {
	i := slices.IndexFunc(scriptOptions, func(k scriptOption) bool { return k.short == short })
	if i < 0 {
		return scriptOption{}, false
	}
	return scriptOptions[i], true
}

// Merge adds the options of a script to those of the command line. Resources, types and dependencies
// (anterior) add up. For all other options the command line takes precedence, and the second result
// has a warning for each ignored value.
func Merge(command, script Options) (Options, []string) {
	all := slices.Clone(command)
	var ignored []string
	for _, o := range script {
		k, _ := findOption(o.Name)
		if _, given := command.Value(o.Name); given && !k.added {
			if k.takes != noArgument {
				ignored = append(ignored, oar.PrintableLine(fmt.Sprintf(
					"# Warning: ignore script value for %s parameter: %s; another value was given on the command line.", o.Name, o.Value)))
			}
			continue
		}
		all = append(all, o)
	}
	return all, ignored
}
