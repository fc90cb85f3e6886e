package jobscript

import (
	"strings"

	"vjob/cluster"
)

// slurmPatterns are the conversions of file names of Slurm that have another letter here.
var slurmPatterns = strings.NewReplacer("%%", "%%", "%J", "%j", "%t", "%r", "%n", "%r")

// outputFile sets an output file. What cannot be one here is a warning: vjob logs prints the output all the same.
func (r *reader) outputFile(flag, pattern string) {
	name, err := cluster.FitOutput(flag, pattern)
	if err != nil {
		r.warn("%s; ignored, vjob logs prints the output", err)
		return
	}
	if name != pattern {
		r.warn("%s: %s becomes %s, each vjob has a file of its own", flag, pattern, name)
	}
	r.set(flag, name)
}
