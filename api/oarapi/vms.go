package oarapi

import (
	"cmp"
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
// wait. A kernel has no shell: each VM gets the words of the command. A simulated guest has a shell without files and
// terminals.
func (m *translator) vmSpecs(sizes []cluster.Resources, walltime time.Duration) []wire.VMSpec {
	kind := m.site.Images[cmp.Or(m.job.Image, m.site.Image)]
	list := make([]wire.VMSpec, len(sizes))
	m.VJob.LeaderEnds = m.VJob.LeaderEnds || m.runs() && kind != imageKernel
	j := m.launched(sizes, walltime)
	for i, size := range sizes {
		v := &list[i]
		v.CPUMilli, v.MemoryMiB, v.Image = int64(size.CPU), int64(size.Memory), m.job.Image
		switch {
		case !m.runs():
		case kind == imageKernel:
			v.Command = strings.Fields(m.submission.Command)
		case kind == imageSimulated && m.job.Interactive: // the guest has a shell of its own
		case kind == imageSimulated && i == 0:
			v.Script = j.Simulated()
		case kind == imageSimulated:
			v.Command = []string{"sleep", "infinity"}
		case i == 0:
			v.Script = j.First()
		default:
			v.Script = launch.Other
		}
	}
	return list
}

// runs reports whether the job runs a command or shell. Reservations and noop jobs may have neither.
func (m *translator) runs() bool { return m.submission.Command != "" || m.job.Interactive }

// launched returns the job as its start script needs it.
func (m *translator) launched(sizes []cluster.Resources, walltime time.Duration) *launch.Job {
	j := &launch.Job{
		Command: m.submission.Command, Script: m.submission.Script, Interactive: m.job.Interactive,
		Rows: int(m.submission.Rows), Columns: int(m.submission.Columns),
		Name: m.value("name"), Project: m.job.Project, User: m.job.User, Directory: m.value(optionDirectory),
		Stdout: m.stdout, Stderr: m.stderr, Walltime: walltime,
	}
	for _, size := range sizes {
		j.CPUs = append(j.CPUs, size.CPU)
	}
	return j
}
