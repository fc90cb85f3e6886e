package submission

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar/date"
)

// The kinds of images.
const (
	simulated = "simulated"
	kernel    = "kernel"
)

// specs are VMs that all run the same: the command, or the script that it names. Each
// VM has the words of the command behind the script's name as its arguments.
func (m *maker) specs(sizes []cluster.Resources) []wire.VMSpec {
	image := cmp.Or(m.job.Image, m.site.Image)
	kind := m.site.Images[image]
	list := make([]wire.VMSpec, len(sizes))
	for i, size := range sizes {
		v := &list[i]
		v.CPUMilli, v.MemoryMiB, v.Image = int64(size.CPU), int64(size.Memory), m.job.Image
		switch {
		case m.asked.Command == "":
		case kind == kernel:
			v.Command = strings.Fields(m.asked.Command) // they become arguments of the kernel
		case m.asked.Script != "":
			v.Script, v.Env = withArguments(m.asked.Script, m.asked.Command, m.Array), m.environment()
		case m.Array:
			v.Command, v.Env = []string{"/bin/sh", "-c", arrayed + `eval "$OAR_COMMAND $VJOB_PARAMETER"`}, m.environment()
			v.Env["OAR_COMMAND"] = m.asked.Command
		default:
			v.Command, v.Env = []string{"/bin/sh", "-c", m.asked.Command}, m.environment()
		}
		if kind == simulated {
			v.Steps = work(m.asked.Command, v.CPUMilli)
		}
	}
	return list
}

// environment is what of OAR's variables is known before a job has a number.
func (m *maker) environment() map[string]string {
	env := map[string]string{"OAR_PROJECT_NAME": cmp.Or(m.job.Project, "default")}
	for name, option := range map[string]string{"OAR_JOB_NAME": "name", "OAR_WORKDIR": directory} {
		if v := m.value(option); v != "" {
			env[name] = v
		}
	}
	if a := m.job.Request.Alternatives; len(a) == 1 && a[0].Walltime > 0 {
		env["OAR_JOB_WALLTIME"] = date.FormatWalltime(a[0].Walltime)
		env["OAR_JOB_WALLTIME_SECONDS"] = strconv.FormatInt(int64(a[0].Walltime/time.Second), 10)
	}
	return env
}

// arrayed gives a sub-job OAR's variables of its array. All have the same command, which
// the parameters follow as they stand: they are for the shell.
const arrayed = "export OAR_ARRAY_ID=$VJOB_ARRAY_ID OAR_ARRAY_INDEX=$VJOB_ARRAY_INDEX OAR_JOB_INDEX=$VJOB_ARRAY_INDEX; "

// withArguments gives a script for a shell its arguments. One for another interpreter
// has none.
func withArguments(text, command string, array bool) string {
	_, arguments, _ := strings.Cut(strings.TrimSpace(command), " ")
	first, body, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	switch {
	case !strings.HasPrefix(first, "#!"), len(words) == 0, !strings.HasSuffix(words[0], "sh"):
		return text
	case array:
		return first + "\n" + arrayed + `eval "set -- ` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(arguments) + ` $VJOB_PARAMETER"` + "\n" + body
	case arguments == "":
		return text
	}
	return first + "\nset -- " + arguments + "\n" + body
}

// work is what a simulated guest computes for a command: for "sleep N" N seconds on all
// of its processors, for any other one second, and without a command nothing until the
// walltime is over.
func work(command string, cpu int64) []wire.Step {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	seconds := 1.0
	if len(words) == 2 && (words[0] == "sleep" || words[0] == "/bin/sleep") {
		if n, err := strconv.ParseFloat(words[1], 64); err == nil && n >= 0 && n <= 1e8 {
			seconds = n
		}
	}
	return []wire.Step{{CPUMilli: cpu, Seconds: seconds}}
}
