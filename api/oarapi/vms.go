package oarapi

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar/launch"
)

// The kinds of images.
const (
	imageSimulated = "simulated"
	imageKernel    = "kernel"
)

// vmSpecs returns the VMs of a job. As in OAR, the first runs the command or script, and the others
// wait. A kernel has no shell: each VM gets the words of the command.
func (m *translator) vmSpecs(sizes []cluster.Resources, walltime time.Duration) []wire.VMSpec {
	kind := m.site.Images[cmp.Or(m.job.Image, m.site.Image)]
	list := make([]wire.VMSpec, len(sizes))
	first := ""
	if m.runs() && kind != imageKernel {
		first, m.VJob.LeaderEnds = m.startScript(sizes, walltime), true
	}
	for i, size := range sizes {
		v := &list[i]
		v.CPUMilli, v.MemoryMiB, v.Image = int64(size.CPU), int64(size.Memory), m.job.Image
		switch {
		case !m.runs():
		case kind == imageKernel:
			v.Command = strings.Fields(m.submission.Command)
		case i == 0:
			v.Script = first
		default:
			v.Script = launch.Other
		}
		if kind == imageSimulated && m.runs() && !m.job.Interactive {
			v.Steps, v.ExitCode = simulatedWork(m.submission.Command, v.CPUMilli)
		}
	}
	return list
}

// runs reports whether the job runs a command or shell. Reservations and noop jobs may have neither.
func (m *translator) runs() bool { return m.submission.Command != "" || m.job.Interactive }

// startScript returns the script of the first VM.
func (m *translator) startScript(sizes []cluster.Resources, walltime time.Duration) string {
	j := launch.Job{
		Command: m.submission.Command, Script: m.submission.Script, Interactive: m.job.Interactive,
		Rows: int(m.submission.Rows), Columns: int(m.submission.Columns),
		Name: m.value("name"), Project: m.job.Project, User: m.job.User, Directory: m.value(optionDirectory),
		Stdout: m.Record.Stdout, Stderr: m.Record.Stderr, Walltime: walltime,
	}
	for _, size := range sizes {
		j.CPUs = append(j.CPUs, size.CPU)
	}
	return j.First()
}

// simulatedWork returns the work of a simulated guest for a command, and its exit code: for "sleep N"
// N seconds on all processors, for others one second; "exit N" and "false" fail.
func simulatedWork(command string, cpu int64) (steps []wire.Step, exit *int) {
	seconds, code := 1.0, 0
	switch words := append(strings.Fields(command), "", ""); words[0] {
	case "sleep", "/bin/sleep":
		if n, err := strconv.ParseFloat(words[1], 64); err == nil && n >= 0 && n <= 1e8 && words[2] == "" {
			seconds = n
		}
	case "false", "/bin/false":
		code = 1
	case "exit":
		if n, err := strconv.Atoi(words[1]); err == nil && n >= 0 && n <= 255 {
			code = n
		}
	}
	return []wire.Step{{CPUMilli: cpu, Seconds: seconds}}, &code
}
