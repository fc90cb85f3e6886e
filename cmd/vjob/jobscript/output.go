package jobscript

import (
	"path"
	"strings"

	"vjob/cluster"
)

// slurmPatterns are the conversions of file names of Slurm that have another letter here.
var slurmPatterns = strings.NewReplacer("%%", "%%", "%J", "%j", "%t", "%r", "%n", "%r")

// outputFile sets an output file. What cannot be one here is a warning: vjob logs prints the output all the same.
func (r *reader) outputFile(flag, pattern string) {
	name := slurmPatterns.Replace(pattern)
	err := check(flag, name)
	if err != nil && check(flag, numbered(name)) == nil {
		name, err = numbered(name), nil
		r.warn("%s: %s becomes %s, each vjob has a file of its own", flag, pattern, name)
	}
	if err != nil {
		r.warn("%s; ignored, vjob logs prints the output", err)
		return
	}
	r.set(flag, name)
}

func check(flag, pattern string) error {
	terms := cluster.Terms{Output: pattern}
	if flag == "error" {
		terms = cluster.Terms{Error: pattern}
	}
	return terms.Check()
}

// numbered puts the number of the vjob before the ending of a file name.
func numbered(name string) string {
	ending := path.Ext(name)
	return strings.TrimSuffix(name, ending) + "-%j" + ending
}
