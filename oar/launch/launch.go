// Package launch writes the scripts that start a job of OAR in its VMs, for any POSIX shell.
//
// The script of the first VM sets OAR's variables, writes the file of nodes, runs the command and
// prints its exit code on the console. The scripts of the other VMs wait: OAR runs a command once,
// on the first node, and the command reaches the others from there.
package launch

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/oar"
)

// Job is a job at submission. The VMs learn its number, and its index in an array, when they boot.
type Job struct {
	Command        string // a shell command; with a script, its name and arguments
	Script         string // text that runs in place of the command, or ""
	Interactive    bool   // the job is a shell on the second line of the console
	Rows, Columns  int    // of the terminal of an interactive job; 0 if unknown
	User           string
	Name, Project  string
	Directory      string
	Stdout, Stderr File
	Walltime       time.Duration
	CPUs           []cluster.MilliCPU // of each VM
}

// File is a file that gets output of a job.
type File struct {
	Name string // may have %jobid% and %jobname%
	Kept bool   // by the daemon, so that the VM does not write it
}

// First returns the script of the first VM.
func (j *Job) First() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# What starts a job of OAR: docs/reference/oar-compatibility.md of vjob tells what it does.\n")
	j.variables(&b)
	b.WriteString(files)
	fmt.Fprintf(&b, "oar_hosts %s\n", runs(j.CPUs))
	b.WriteString(lines)
	j.work(&b)
	if !j.Interactive {
		b.WriteString(attending)
	}
	fmt.Fprintf(&b, "oar_stdout=%s oar_stderr=%s\n", j.Stdout.written("OAR_STDOUT"), j.Stderr.written("OAR_STDERR"))
	b.WriteString(ending)
	return b.String()
}

// Other is the script of all other VMs, which end with the first.
const Other = "#!/bin/sh\n# The command runs in the first VM of the job.\nwhile :; do sleep 86400; done\n"

// variables writes OAR's variables.
func (j *Job) variables(b *strings.Builder) {
	b.WriteString(numbers)
	set := func(names, value string) {
		for name := range strings.FieldsSeq(names) {
			fmt.Fprintf(b, "export %s=%s\n", name, value)
		}
	}
	project := j.Project
	if project == "" {
		project = "default"
	}
	set("OAR_PROJECT_NAME", cluster.Quote(project))
	set("OAR_JOB_NAME", cluster.Quote(j.Name))
	set("OAR_USER", cluster.Quote(j.User))
	set("OAR_WORKDIR OAR_WORKING_DIRECTORY", cluster.Quote(j.Directory))
	set("OAR_STDOUT", j.file(j.Stdout.Name))
	set("OAR_STDERR", j.file(j.Stderr.Name))
	if j.Walltime > 0 {
		set("OAR_JOB_WALLTIME", cluster.Quote(oar.FormatWalltime(j.Walltime)))
		set("OAR_JOB_WALLTIME_SECONDS", fmt.Sprint(int64(j.Walltime/time.Second)))
	}
}

// file returns the name of an output file, relative to the directory, as a word for a shell.
func (j *Job) file(name string) string {
	if name == "" {
		return "/dev/null"
	}
	if !strings.HasPrefix(name, "/") {
		name = strings.TrimSuffix(j.Directory, "/") + "/" + name
	}
	var b strings.Builder
	for i, part := range strings.Split(name, "%jobid%") {
		if i > 0 {
			b.WriteString(`"$OAR_JOB_ID"`)
		}
		b.WriteString(cluster.Quote(strings.ReplaceAll(part, "%jobname%", j.Name)))
	}
	return b.String()
}

// written returns the file that the VM writes, as a word for a shell; variable has its name.
func (f File) written(variable string) string {
	if f.Kept {
		return "/dev/null"
	}
	return "$" + variable
}

// work writes the function that runs the job.
func (j *Job) work(b *strings.Builder) {
	switch {
	case j.Interactive:
		if j.Rows > 0 && j.Columns > 0 && max(j.Rows, j.Columns) <= maxSize {
			fmt.Fprintf(b, "oar_size='rows %d cols %d'\n", j.Rows, j.Columns)
		}
		b.WriteString(shell)
	case j.Script != "":
		end := mark
		for strings.Contains(j.Script, end) {
			end += "_"
		}
		_, arguments, _ := strings.Cut(strings.TrimSpace(j.Command), " ")
		fmt.Fprintf(b, "cat >\"$oar_dir/script\" <<'%s'\n%s\n%s\nchmod 700 \"$oar_dir/script\"\n", end, strings.TrimSuffix(j.Script, "\n"), end)
		fmt.Fprintf(b, "oar_arguments=%s\noar_work() { eval \"\\\"\\$oar_dir/script\\\" $oar_arguments ${VJOB_PARAMETER-}\"; }\n", cluster.Quote(arguments))
	default:
		fmt.Fprintf(b, "oar_command=%s\noar_work() { sh -c \"$oar_command ${VJOB_PARAMETER-}\"; }\n", cluster.Quote(j.Command))
	}
}

// maxSize is the maximal number of rows and columns of a terminal.
const maxSize = 1<<16 - 1

// mark ends the here-document with the script of the job.
const mark = "OAR_END_OF_SCRIPT"

// ScriptOf returns the script of a job from the script of its first VM. ok is false if the job has no
// script.
func ScriptOf(first string) (text string, ok bool) {
	if text, ok := simulatedScript(first); ok {
		return text, true
	}
	_, rest, ok := strings.Cut(first, "cat >\"$oar_dir/script\" <<'")
	end, rest, ok2 := strings.Cut(rest, "'\n")
	text, _, ok3 := strings.Cut(rest, "\n"+end+"\n")
	return text + "\n", ok && ok2 && ok3
}

// runs formats the sizes of VMs as "count cores" pairs, one for each run of equal VMs. A VM with part
// of a processor counts as one core.
func runs(cpus []cluster.MilliCPU) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		n := i
		for n < len(cpus) && cpus[n] == cpus[i] {
			n++
		}
		fmt.Fprintf(&b, " %d %d", n-i, max(1, (cpus[i]+cluster.CPU-1)/cluster.CPU))
		i = n
	}
	return strings.TrimPrefix(b.String(), " ")
}
