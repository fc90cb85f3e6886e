package api

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/scheduler/admission"
)

// Bounds of a submission. They keep sums of a whole vjob far from overflow and
// texts from filling the disk.
const (
	maxCPUMilli  = 1_000_000         // 1,000 processors in one VM
	maxMemoryMiB = 64 << 20          // 64 TiB in one VM
	maxWalltime  = 10 * 365 * 86_400 // seconds: ten years
	maxPriority  = 1_000_000
	maxScript    = 64 << 10  // bytes
	maxWords     = 1024      // of a command
	maxWord      = 32 << 10  // bytes
	maxEnv       = 1000      // variables
	maxSteps     = 100_000   // of all members together
	maxMbit      = 1_000_000 // of a step: far above any link
	maxRules     = 64 << 10  // bytes
	maxKey       = 128       // characters of an idempotency key
)

var (
	numberShape = regexp.MustCompile(`^[+-]?[0-9]+$`)
	envShape    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	imageShape  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

// What is wanted of fields that every submission has; most are right.
var (
	wantWords  = fmt.Sprintf("at most %d words", maxWords)
	wantScript = fmt.Sprintf("at most %d bytes", maxScript)
	wantRules  = fmt.Sprintf("at most %d bytes of rules", maxRules)
	wantKey    = fmt.Sprintf("at most %d printable ASCII characters", maxKey)
)

// Submission checks a submission field by field and turns it into what the loop
// takes. Whether the image and the nodes exist and whether the cluster is large
// enough is the loop's to say. vms is the most VMs in one vjob.
func Submission(w *wire.Submission, vms int) (admission.Submission, error) {
	s := admission.Submission{
		Name: w.Name, Priority: w.Priority, Held: w.Hold, Rules: w.Rules,
		Walltime: time.Duration(w.WalltimeSeconds) * time.Second,
	}
	var faults cluster.Faults
	specs, err := vmSpecs(w, vms)
	faults.Add(
		err,
		optionalName("name", w.Name),
		check(!numberShape.MatchString(w.Name), "name", w.Name, "a name with a letter; a number could be taken for that of another vjob"),
		inRange("priority", int64(w.Priority), -maxPriority, maxPriority),
		inRange("walltime_seconds", w.WalltimeSeconds, 0, maxWalltime),
		checkRules("rules", w.Rules),
	)
	s.VMs, err = parseVMs(w, specs)
	faults.Add(err)
	s.Terms, err = terms(&w.Terms, vms)
	faults.Add(err)
	if s.Flexible > 0 && s.Walltime == 0 {
		faults.Add(cluster.Fault("flexible_seconds", "%s requires a walltime: what a start costs depends on how long the vjob runs", s.Flexible))
	}
	if len(s.Shapes) > 0 && s.Walltime == 0 {
		faults.Add(cluster.BadField("walltime_seconds", 0, "1 or more: of the alternatives the one that ends first is taken"))
	}
	if err := faults.Err(); err != nil {
		return admission.Submission{}, err
	}
	if len(s.Shapes) > 0 {
		own := cluster.Shape{VMs: s.VMs, Walltime: s.Walltime, Rules: s.Rules}
		s.Shapes = append([]cluster.Shape{own}, s.Shapes...)
	}
	return s, nil
}

// vmSpecs is the list of VMs, from whichever of the two ways to give it. Those of a template are one.
func vmSpecs(w *wire.Submission, most int) ([]*wire.VMSpec, error) {
	switch {
	case len(w.VMs) > 0 && (w.Template != nil || w.Count != 0):
		return nil, cluster.Fault("vms", "vms and count or template given, want one of the two")
	case len(w.VMs) > most:
		return nil, cluster.BadField("vms", len(w.VMs), fmt.Sprintf("at most %d VMs in one vjob", most))
	case len(w.VMs) > 0:
		specs := make([]*wire.VMSpec, len(w.VMs))
		for rank := range specs {
			specs[rank] = &w.VMs[rank]
		}
		return specs, nil
	case w.Template == nil && w.Count == 0:
		return nil, cluster.Fault("vms", "missing, want at least one VM, or count and template")
	case w.Template == nil:
		return nil, cluster.Fault("template", "missing, want the VM of which to create %d", w.Count)
	}
	if err := inRange("count", int64(w.Count), 1, int64(most)); err != nil {
		return nil, err
	}
	return slices.Repeat([]*wire.VMSpec{w.Template}, w.Count), nil
}

// parseVMs checks the members. Equal ones are checked once and share their payload.
func parseVMs(w *wire.Submission, specs []*wire.VMSpec) ([]cluster.VM, error) {
	if w.Template != nil {
		if n := len(specs) * len(w.Template.Steps); n > maxSteps {
			return nil, cluster.BadField("template.steps", n, fmt.Sprintf("at most %d steps in all VMs", maxSteps))
		}
		vm, err := parseVM("template", w.Template, specs)
		return slices.Repeat([]cluster.VM{vm}, len(specs)), err
	}
	var faults cluster.Faults
	vms := make([]cluster.VM, len(specs))
	for rank := range specs {
		var err error
		vms[rank], err = parseVM(fmt.Sprintf("vms[%d]", rank), specs[rank], specs)
		faults.Add(err)
	}
	return vms, faults.Err()
}

// parseVM checks one VM; path is where it stands in the input.
func parseVM(path string, v *wire.VMSpec, all []*wire.VMSpec) (cluster.VM, error) {
	steps, err := program(path+".steps", v, all)
	err = cluster.AllFaults(
		inRange(path+".cpu_milli", v.CPUMilli, 1, maxCPUMilli),
		inRange(path+".memory_mib", v.MemoryMiB, 1, maxMemoryMiB),
		check(v.Image == "" || imageShape.MatchString(v.Image), path+".image", v.Image, "the id of an image of the catalogue"),
		checkCommand(path, v),
		checkEnv(path+".env", v.Env),
		err,
	)
	return cluster.VM{
		Reserved: cluster.Resources{CPU: cluster.MilliCPU(v.CPUMilli), Memory: cluster.MiB(v.MemoryMiB)},
		Payload:  &cluster.Payload{Image: v.Image, Command: v.Command, Script: v.Script, Env: v.Env, Program: steps},
	}, err
}

func checkCommand(path string, v *wire.VMSpec) error {
	var faults cluster.Faults
	if len(v.Command) > 0 && v.Script != "" {
		faults.Add(cluster.Fault(path+".script", "a command and a script given, want one of the two"))
	}
	faults.Add(check(len(v.Command) <= maxWords, path+".command", len(v.Command), wantWords))
	for i, word := range v.Command {
		field := fmt.Sprintf("%s.command[%d]", path, i)
		if len(word) > maxWord || !cluster.Printable(word, "\n\t") || i == 0 && word == "" {
			faults.Add(cluster.BadField(field, word, fmt.Sprintf("printable text of at most %d bytes", maxWord)))
		}
	}
	faults.Add(
		check(len(v.Script) <= maxScript, path+".script", len(v.Script), wantScript),
		check(cluster.Printable(v.Script, "\n\t\r"), path+".script", v.Script, "text without control characters"),
	)
	return faults.Err()
}

func checkEnv(path string, env map[string]string) error {
	if len(env) > maxEnv {
		return cluster.BadField(path, len(env), fmt.Sprintf("at most %d variables", maxEnv))
	}
	var faults cluster.Faults
	for _, name := range slices.Sorted(maps.Keys(env)) {
		field := fieldpath.Join(path, name)
		faults.Add(
			check(envShape.MatchString(name), field, name, "a name of letters, digits and '_', not beginning with a digit"),
			check(len(env[name]) <= maxWord && cluster.Printable(env[name], "\n\t"), field, env[name], fmt.Sprintf("printable text of at most %d bytes", maxWord)),
		)
	}
	return faults.Err()
}

// program checks the steps of a simulated guest; nil without steps.
func program(path string, v *wire.VMSpec, all []*wire.VMSpec) (*cluster.Program, error) {
	steps := v.Steps
	if v.ExitCode != nil && (len(steps) == 0 || *v.ExitCode < 0 || *v.ExitCode > 255) {
		return nil, cluster.BadField(strings.TrimSuffix(path, ".steps")+".exit_code", *v.ExitCode, "from 0 to 255, beside steps")
	}
	if len(steps) == 0 {
		return nil, nil
	}
	if len(steps) > maxSteps {
		return nil, cluster.BadField(path, len(steps), fmt.Sprintf("at most %d steps", maxSteps))
	}
	var faults cluster.Faults
	p := &cluster.Program{Steps: make([]cluster.Step, len(steps))}
	if v.ExitCode != nil {
		p.Exit = *v.ExitCode
	}
	for i, step := range steps {
		field := fmt.Sprintf("%s[%d]", path, i)
		faults.Add(
			check(step.CPUMilli >= 0 && step.CPUMilli <= v.CPUMilli, field+".cpu_milli", step.CPUMilli,
				fmt.Sprintf("from 0 to %d, the processors of the VM", v.CPUMilli)),
			check(step.MemoryMiB >= 0 && step.MemoryMiB <= v.MemoryMiB, field+".memory_mib", step.MemoryMiB,
				fmt.Sprintf("from 0 to %d, the memory of the VM", v.MemoryMiB)),
			check(step.NetworkMbit >= 0 && step.NetworkMbit <= maxMbit, field+".network_mbit", step.NetworkMbit, fmt.Sprintf("from 0 to %d", maxMbit)),
			check(step.Seconds >= 0 && step.Seconds <= maxWalltime, field+".seconds", step.Seconds, fmt.Sprintf("from 0 to %d", maxWalltime)),
		)
		p.Steps[i] = cluster.Step{
			CPU:      cluster.MilliCPU(step.CPUMilli),
			Memory:   cluster.MiB(step.MemoryMiB),
			Network:  cluster.Rate(math.Round(step.NetworkMbit * 125_000)),
			Duration: time.Duration(math.Round(step.Seconds * float64(time.Second))),
		}
		for k, ref := range step.After {
			field := fmt.Sprintf("%s.after[%d]", field, k)
			if ref.Rank < 0 || ref.Rank >= len(all) {
				faults.Add(cluster.BadField(field+".rank", ref.Rank, fmt.Sprintf("a rank from 0 to %d", len(all)-1)))
			} else if ref.Index < 0 || ref.Index >= len(all[ref.Rank].Steps) {
				faults.Add(cluster.BadField(field+".index", ref.Index, fmt.Sprintf("one of the %d steps of rank %d, from 0", len(all[ref.Rank].Steps), ref.Rank)))
			}
			p.Steps[i].After = append(p.Steps[i].After, cluster.StepRef(ref))
		}
	}
	return p, faults.Err()
}

// checkRules checks rules as a text. What they say is the loop's to judge.
func checkRules(field, text string) error {
	return cluster.AllFaults(
		check(len(text) <= maxRules, field, text, wantRules),
		check(utf8.ValidString(text) && cluster.Printable(text, "\n\t\r"), field, text, "text without control characters"),
	)
}

func check(ok bool, field string, value any, want string) error {
	if ok {
		return nil
	}
	return cluster.BadField(field, value, want)
}

func inRange(field string, n, least, most int64) error {
	if n >= least && n <= most {
		return nil
	}
	return cluster.BadField(field, n, fmt.Sprintf("from %d to %d", least, most))
}

func checkKey(key string) error {
	graphic := !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	return check(len(key) <= maxKey && graphic, wire.KeyHeader, key, wantKey)
}

// optionalName says what is wrong with a name that need not be given.
func optionalName(field, name string) error {
	if name == "" {
		return nil
	}
	return cluster.CheckName(field, name)
}

// maxParameter is the most bytes of the parameter of one vjob.
const maxParameter = 16 << 10

// parameters are those of an array, one for each of its vjobs; none is no array.
func parameters(w *wire.Submission, most int) ([]string, error) {
	if w.Array == 0 && len(w.Parameters) == 0 && w.MaxConcurrent == 0 {
		return nil, nil
	}
	bound := fmt.Sprintf("at most %d vjobs in one array", most)
	var faults cluster.Faults
	faults.Add(
		check(w.Array >= 0, "array", w.Array, "the number of vjobs, 1 or more"),
		check(w.Array <= most, "array", w.Array, bound),
		check(len(w.Parameters) <= most, "parameters", len(w.Parameters), bound),
		check(w.Array == 0 || len(w.Parameters) == 0 || w.Array == len(w.Parameters), "array", w.Array,
			fmt.Sprintf("the number of parameters, %d, or 0: they are counted", len(w.Parameters))),
		check(w.MaxConcurrent == 0 || w.Array > 0 || len(w.Parameters) > 0, "at_once", w.MaxConcurrent, "an array as well"),
	)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if len(w.Parameters) == 0 && w.Array > 0 {
		return make([]string, w.Array), nil
	}
	for i, text := range w.Parameters {
		field := fmt.Sprintf("parameters[%d]", i)
		if len(text) > maxParameter || !cluster.Printable(text, "\t") {
			faults.Add(cluster.BadField(field, text, fmt.Sprintf("printable text of at most %d bytes", maxParameter)))
		}
		var bad *cluster.FieldError
		if _, err := cluster.Words(text); errors.As(err, &bad) {
			faults.Add(cluster.Renamed(field, bad))
		}
	}
	return w.Parameters, faults.Err()
}
