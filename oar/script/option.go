package script

import "slices"

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

// takes is what stands behind an option.
type takes uint8

const (
	nothing takes = iota
	text
	number
)

// kind is what is known of an option.
type kind struct {
	name  string
	short string // one letter, or ""
	takes takes
	added bool // given more than once, and on both sides, it counts each time
}

// kinds are the options of oarsub that may stand in a script, by OAR's manual.
var kinds = []kind{
	{"resource", "l", text, true},
	{"queue", "q", text, false},
	{"property", "p", text, false},
	{"type", "t", text, true},
	{"anterior", "a", number, true},
	{"checkpoint", "", number, false},
	{"signal", "", number, false},
	{"notify", "", text, false},
	{"directory", "d", text, false},
	{"name", "n", text, false},
	{"project", "", text, false},
	{"hold", "", nothing, false},
	{"stdout", "O", text, false},
	{"stderr", "E", text, false},
	{"use-job-key", "k", nothing, false},
	{"import-job-key-inline-priv", "", text, false},
	{"import-job-key-from-file", "i", text, false},
	{"export-job-key-to-file", "e", text, false},
	{"stagein", "s", text, false},
	{"stagein-md5sum", "", text, false},
	{"array", "", number, false},
	{"array-param-file", "", text, false},
}

// known finds an option by its long name.
func known(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// lettered finds an option by its letter.
func lettered(short string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.short == short })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}
