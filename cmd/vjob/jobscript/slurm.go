package jobscript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
	"vjob/internal/pattern"
)

// slurmSize is what a script for Slurm says about the size of its job: it decides the VMs together.
type slurmSize struct {
	used                                    bool
	nodes, tasks, tasksPerNode, cpusPerTask int
	memory, memoryPerCPU                    cluster.MiB
}

var slurmLetters = map[byte]string{
	'J': "job-name", 'N': "nodes", 'n': "ntasks", 'c': "cpus-per-task", 't': "time", 'p': "partition", 'A': "account", 'a': "array", 'd': "dependency",
	'b': "begin", 'o': "output", 'e': "error", 'H': "hold", 'w': "nodelist", 'x': "exclude", 'D': "chdir", 'C': "constraint", 'W': "wait", 'q': "qos", 's': "oversubscribe",
}

// slurmFlags are the options of sbatch that are flags of vjob submit under another name.
var slurmFlags = map[string]string{
	"job-name": "name", "partition": "queue", "account": "project", "comment": "comment", "nodelist": "fence", "exclude": "ban",
}

// slurmBare are the options of sbatch without a value.
var slurmBare = map[string]bool{
	"hold": true, "requeue": true, "no-requeue": true, "exclusive": true, "wait": true, "oversubscribe": true, "test-only": true, "parsable": true, "quiet": true, "verbose": true, "spread-job": true,
}

// slurm reads options of sbatch.
func (r *reader) slurm(words []string) error {
	list, err := options(words, slurmLetters, func(name string) bool { return !slurmBare[name] })
	if err != nil {
		return err
	}
	r.used, r.script.First = true, true
	for _, o := range list {
		if err := r.slurmOption(o); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) slurmOption(o option) (err error) {
	if flag, ok := slurmFlags[o.name]; ok {
		r.set(flag, o.value)
		return nil
	}
	field := "--" + o.name
	switch o.name {
	case "nodes":
		r.nodes, err = count(field, o.value)
	case "ntasks":
		r.tasks, err = count(field, o.value)
	case "ntasks-per-node":
		r.tasksPerNode, err = count(field, o.value)
	case "cpus-per-task":
		r.cpusPerTask, err = count(field, o.value)
	case "mem":
		r.memory, err = slurmMemory(field, o.value)
	case "mem-per-cpu":
		r.memoryPerCPU, err = slurmMemory(field, o.value)
	case "time":
		err = r.converted("walltime", slurmTime, field, o.value)
	case "array":
		err = r.slurmArray(field, o.value)
	case "dependency":
		err = r.slurmDependency(field, o.value)
	case "begin":
		err = r.converted("not-before", slurmInstant, field, o.value)
	case "deadline":
		err = r.converted("deadline", slurmInstant, field, o.value)
	case "mail-user":
		r.set("notify", "mail:"+o.value)
	case "output", "error":
		r.outputFile(o.name, slurmPatterns.Replace(o.value))
	case "hold":
		r.set("hold", "true")
	case "spread-job":
		r.set("spread", "true")
	case "requeue", "mail-type", "ntasks-per-core", "parsable", "quiet", "verbose": // as it is here in any case
	case "export":
		r.slurmExport(o.value)
	default:
		r.warn("%s: not supported, ignored", field)
	}
	return err
}

// converted sets a flag to a value in another notation.
func (r *reader) converted(flag string, convert func(field, text string) (string, error), field, text string) error {
	value, err := convert(field, text)
	if err == nil {
		r.set(flag, value)
	}
	return err
}

func count(field, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, cluster.BadField(field, text, "a number from 1")
	}
	return n, nil
}

var slurmSizeShape = pattern.New(`^([0-9]+)([KMGTkmgt]?)[Bb]?$`)

// slurmMemory reads an amount of memory, in MiB without a unit.
func slurmMemory(field, text string) (cluster.MiB, error) {
	m := slurmSizeShape().FindStringSubmatch(text)
	bad := cluster.BadField(field, text, "a size such as 2000M or 4G, from 1M")
	if m == nil {
		return 0, bad
	}
	n, err := strconv.ParseInt(m[1], 10, 40)
	if err != nil {
		return 0, bad
	}
	size := cluster.MiB(n)
	switch strings.ToUpper(m[2]) {
	case "K":
		size = (size + 1023) / 1024
	case "G":
		size *= cluster.GiB
	case "T":
		size *= cluster.TiB
	}
	if size < 1 {
		return 0, bad
	}
	return size, nil
}

var slurmTimeShape = pattern.New(`^(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?$`)

// slurmTime reads minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
// days-hours:minutes:seconds.
func slurmTime(field, text string) (string, error) {
	m := slurmTimeShape().FindStringSubmatch(text)
	if m == nil {
		return "", cluster.BadField(field, text, "a time such as 90, 1:30:00 or 2-12:00:00")
	}
	part := func(i int) int64 {
		n, _ := strconv.ParseInt("0"+m[i], 10, 64) // the shape has digits only
		return n
	}
	seconds := part(2)*60 + part(3)
	switch {
	case m[1] != "":
		seconds = part(1)*86400 + part(2)*3600 + part(3)*60 + part(4)
	case m[4] != "":
		seconds = part(2)*3600 + part(3)*60 + part(4)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60), nil
}

var slurmNow = pattern.New(`^now\+([0-9]+)(seconds?|minutes?|hours?|days?|weeks?)?$`)

// slurmInstant reads an instant, also relative to now.
func slurmInstant(_, text string) (string, error) {
	if m := slurmNow().FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		unit := map[string]int{"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[(m[2] + "seconds")[:1]]
		if err == nil {
			return fmt.Sprintf("+%ds", n*unit), nil
		}
	}
	return strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "now"), nil
}

var slurmArrayShape = pattern.New(`^([0-9]+)-([0-9]+)(?:%([0-9]+))?$`)

func (r *reader) slurmArray(field, text string) error {
	m := slurmArrayShape().FindStringSubmatch(text)
	if m == nil {
		return cluster.BadField(field, text, "a range from 1, such as 1-16 or 1-16%4; lists and steps have no counterpart")
	}
	first, err1 := strconv.Atoi(m[1])
	last, err2 := strconv.Atoi(m[2])
	if err1 != nil || err2 != nil || last < first {
		return cluster.BadField(field, text, "a range such as 1-16")
	}
	if first != 1 {
		r.warn("%s: indexes begin at 1 here, not at %d", field, first)
	}
	value := strconv.Itoa(last - first + 1)
	if m[3] != "" {
		value += "%" + m[3]
	}
	r.set("array", value)
	return nil
}

var slurmConditions = map[string]string{"afterok": "ok:", "afterany": "any:", "afternotok": "notok:", "after": "started:", "aftercorr": "ok:"}

func (r *reader) slurmDependency(field, text string) error {
	for part := range strings.SplitSeq(text, ",") {
		when, ids, _ := strings.Cut(part, ":")
		condition, known := slurmConditions[when]
		if !known {
			return cluster.BadField(field, part, "afterok, afterany, afternotok, after or aftercorr, a colon, and numbers of vjobs")
		}
		for id := range strings.SplitSeq(ids, ":") {
			if when == "aftercorr" {
				id += "[i]"
			}
			r.set("after", condition+id)
		}
	}
	return nil
}

func (r *reader) slurmExport(text string) {
	for part := range strings.SplitSeq(text, ",") {
		switch {
		case strings.Contains(part, "="):
			r.set("env", part)
		case part != "NONE":
			r.warn("--export: %s: the environment of this shell does not reach the VMs: want NAME=VALUE", part)
		}
	}
}

// finish sets the size of a job of Slurm: a VM for each node or, without nodes, for each task. What #VJOB lines say of it holds.
func (r *reader) finish() {
	if !r.used {
		return
	}
	r.line = 1
	vms, cpus := max(r.nodes, 1), max(r.cpusPerTask, 1)
	switch {
	case r.nodes == 0 && r.tasksPerNode == 0:
		vms = max(r.tasks, 1)
	case r.nodes == 0:
		vms = (max(r.tasks, 1) + r.tasksPerNode - 1) / r.tasksPerNode
		cpus *= r.tasksPerNode
	case r.tasksPerNode > 0:
		cpus *= r.tasksPerNode
	case r.tasks > 0:
		cpus *= (r.tasks + r.nodes - 1) / r.nodes
	}
	r.setSize("vms", strconv.Itoa(vms))
	r.setSize("cpu", strconv.Itoa(cpus))
	memory := r.memory
	if r.memoryPerCPU > 0 {
		memory = r.memoryPerCPU * cluster.MiB(cpus)
	}
	if memory > 0 {
		r.setSize("mem", fmt.Sprintf("%dMiB", memory))
	}
	r.script.Text = withVariables(r.script.Text, slurmVariables)
}

// setSize sets a flag unless a line has set it.
func (r *reader) setSize(flag, value string) {
	if !slices.ContainsFunc(r.script.Directives, func(d Directive) bool { return d.Flag == flag }) {
		r.set(flag, value)
	}
}

// slurmVariables have the values of Slurm's variables. Shells read them before the script.
const slurmVariables = `export SLURM_JOB_ID="$VJOB_ID" SLURM_JOBID="$VJOB_ID" SLURM_JOB_NUM_NODES="$VJOB_VMS" SLURM_NNODES="$VJOB_VMS" SLURM_NODEID="$VJOB_RANK" ` +
	`SLURM_ARRAY_JOB_ID="${VJOB_ARRAY_ID:-}" SLURM_ARRAY_TASK_ID="${VJOB_ARRAY_INDEX:-}"`

var shellLine = pattern.New(`^#![^\n]*\b(sh|bash|dash|ksh|zsh)\b[^\n]*\n`)

// withVariables puts a line behind the first of a shell script.
func withVariables(text, line string) string {
	if head := shellLine().FindString(text); head != "" {
		return head + line + "\n" + text[len(head):]
	}
	return text
}
