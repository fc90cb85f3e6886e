package script

import (
	"fmt"
	"slices"

	"vjob/oar"
)

// Option is an option as it was given.
type Option struct {
	Name  string // the long name, without dashes
	Value string // "" for one that takes none
	Line  int    // of the script; 0 on the command line
}

// Options are those of a script or of a command line, in their order.
type Options []Option

// Values are all values of an option.
func (o Options) Values(name string) (list []string) {
	for _, x := range o {
		if x.Name == name {
			list = append(list, x.Value)
		}
	}
	return list
}

// Value is the last value of an option; given is false if it is not there.
func (o Options) Value(name string) (value string, given bool) {
	for _, x := range slices.Backward(o) {
		if x.Name == name {
			return x.Value, true
		}
	}
	return "", false
}

// argument is what stands behind an option.
type argument uint8

const (
	noArgument argument = iota
	textArgument
	numberArgument
)

// scriptOption is what is known of an option.
type scriptOption struct {
	name  string
	short string // one letter, or ""
	takes argument
	added bool // given more than once, and on both sides, it counts each time
}

// scriptOptions are the options of oarsub that may stand in a script, by OAR's manual.
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

// findOption finds an option by its long name.
func findOption(name string) (scriptOption, bool) {
	i := slices.IndexFunc(scriptOptions, func(k scriptOption) bool { return k.name == name })
	if i < 0 {
		return scriptOption{}, false
	}
	return scriptOptions[i], true
}

// findLetter finds an option by its letter.
func findLetter(short string) (scriptOption, bool) {
	i := slices.IndexFunc(scriptOptions, func(k scriptOption) bool { return k.short == short })
	if i < 0 {
		return scriptOption{}, false
	}
	return scriptOptions[i], true
}

// Merge puts the options of a script below those of the command line. Resources,
// types and anterior jobs of both count; of any other option the command line has
// the say, and what the script says is told as ignored.
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
