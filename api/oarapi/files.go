package oarapi

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/launch"
)

// outputFilename matches the names of output files that OAR allows.
var outputFilename = regexp.MustCompile(`^[a-zA-Z0-9_./ %-]*$`)

// nameFiles names the files that get the output: those in the directory of the job, for VMs that have it, and those
// that the daemon keeps.
func (m *translator) nameFiles() error {
	for _, f := range []struct {
		option  string
		exit    oar.Exit
		at      *launch.File
		pattern *string
	}{{"stdout", exitStdout, &m.stdout, &m.VJob.Output}, {"stderr", exitStderr, &m.stderr, &m.VJob.Error}} {
		given := m.value(f.option)
		if !outputFilename.MatchString(given) {
			return &oar.Error{
				Exit: f.exit, OAR: fmt.Sprintf("# Error: invalid %s file name (bad character)", f.option),
				Text: fmt.Sprintf("%s: want letters, digits, and _ . / %% - and blanks", oar.Quoted(given)),
			}
		}
		middle := ""
		if m.Record.Name != "" {
			middle = m.Record.Name + "."
		}
		f.at.Name = cmp.Or(given, "OAR."+middle+"%jobid%."+f.option)
		if m.job.Interactive || m.submission.Command == "" || given == "" && m.caller.NoOutput != nil {
			continue
		}
		var err error
		if *f.pattern, f.at.Kept, err = m.keep(f.option, f.at.Name); err != nil {
			m.warn(err.Error() + "; only a VM that has the directory writes the file")
		}
	}
	return nil
}

// keep returns the pattern of the file that the daemon keeps for a file of OAR, and whether it is the same file. A
// relative name is below the directory of the job if that is in the folder of the caller, and otherwise below the folder.
func (m *translator) keep(option, file string) (pattern string, same bool, err error) {
	if err := m.caller.NoOutput; err != nil {
		return "", false, cluster.Fault(option, "%s", err)
	}
	at := file
	if !path.IsAbs(file) {
		at = path.Join(m.value(optionDirectory), file)
	}
	name, same := strings.CutPrefix(path.Clean(at), m.caller.OutputFolder+"/")
	switch {
	case same:
	case path.IsAbs(file):
		return "", false, cluster.Fault(option, "%s is not below %s, where your output files are kept: name a file there, or leave out the directory", file, m.caller.OutputFolder)
	default:
		name = file
	}
	name = oar.OutputPattern(name, strings.ReplaceAll(m.Record.Name, "%", "%%"))
	if pattern, err = cluster.FitOutput(option, name); err != nil {
		return "", false, err
	}
	if pattern != name {
		m.warn(fmt.Sprintf("%s: %s becomes %s, each job has a file of its own", option, name, pattern))
	}
	return pattern, same && pattern == name, nil
}
