package jobscript

import (
	"fmt"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/request"
)

var oarLetters = map[byte]string{
	'l': "resource", 'p': "property", 'q': "queue", 't': "type", 'r': "reservation", 'a': "anterior", 'n': "name", 'd': "directory", 'O': "stdout", 'E': "stderr", 'k': "use-job-key",
}

// oarFlags are the options of oarsub that are flags of vjob submit, some under another name.
var oarFlags = map[string]string{
	"name": "name", "queue": "queue", "project": "project", "mem": "mem", "image": "image", "array": "array", "array-param-file": "array-file", "reservation": "reserve",
}

// oar reads options of oarsub. What needs the nodes, as -p does, only oarsub -S understands.
func (r *reader) oar(words []string) error {
	list, err := options(words, oarLetters, func(name string) bool { return name != "hold" && name != "use-job-key" })
	if err != nil {
		return err
	}
	r.script.First = true
	for _, o := range list {
		if flag, ok := oarFlags[o.name]; ok {
			r.set(flag, o.value)
			continue
		}
		switch o.name {
		case "resource":
			err = r.oarRequest(o.value)
		case "stdout", "stderr":
			r.outputFile(map[string]string{"stdout": "output", "stderr": "error"}[o.name], oar.OutputPattern(o.value, "%x"))
		case "type":
			r.oarType(o.value)
		case "anterior":
			r.set("after", "any:"+o.value)
		case "notify":
			r.set("notify", o.value)
		case "hold":
			r.set("hold", "true")
		default:
			r.warn("--%s: not supported here, ignored; oarsub -S may know it", o.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oarRequest reads a request of equal VMs, such as nodes=4/core=2,walltime=1:0:0.
func (r *reader) oarRequest(text string) error {
	site := request.DefaultConfig()
	parsed, err := request.Parse([]string{text}, site)
	if err != nil {
		return cluster.Fault("-l", "%s", strings.TrimSpace(err.Error()))
	}
	alternative := parsed.Alternatives[0]
	groups, err := request.VMGroups(alternative, site)
	if err != nil {
		return cluster.Fault("-l", "%s", strings.TrimSpace(err.Error()))
	}
	vms, err := strconv.Atoi(string(groups[0].VMs.Count))
	if err != nil || len(groups) > 1 || len(groups[0].Labels) > 0 || groups[0].Whole() {
		return cluster.Fault("-l", "%s: want VMs of one size, such as nodes=4/core=2; oarsub -S takes the rest", text)
	}
	r.set("vms", strconv.Itoa(vms))
	r.set("cpu", groups[0].CPU.String())
	if alternative.Walltime > 0 {
		s := int64(alternative.Walltime.Seconds())
		r.set("walltime", fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60))
	}
	return nil
}

func (r *reader) oarType(text string) {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "besteffort":
		r.set("best-effort", "true")
	case "idempotent", "container":
		r.set(name, "true")
	case "inner":
		r.set("inner", value)
	default:
		r.warn("-t %s: not supported here, ignored; oarsub -S may know it", text)
	}
}
