package script

import (
	"fmt"
	"slices"

	"vjob/oar/message"
)

// Merge puts the options of a script below those of the command line. Resources,
// types and anterior jobs of both count; of any other option the command line has
// the say, and what the script says is told as ignored.
func Merge(command, script Options) (Options, []string) {
	all := slices.Clone(command)
	var ignored []string
	for _, o := range script {
		k, _ := known(o.Name)
		if _, given := command.Value(o.Name); given && !k.added {
			if k.takes != nothing {
				ignored = append(ignored, message.Line(fmt.Sprintf(
					"# Warning: ignore script value for %s parameter: %s; another value was given on the command line.", o.Name, o.Value)))
			}
			continue
		}
		all = append(all, o)
	}
	return all, ignored
}
