package oarapi

import (
	"strconv"
	"strings"

	"vjob/oar"
	"vjob/oar/script"
)

// Options of oarsub, by their long names.
const (
	optionResource    = "resource"
	optionReservation = "reservation"
	optionType        = "type"
	optionAnterior    = "anterior"
	optionCheckpoint  = "checkpoint"
	optionSignal      = "signal"
	optionArray       = "array"
	optionParamFile   = "array-param-file"
	optionDirectory   = "directory"
)

// submittedOptions returns the fields of a submission as options of the command line.
func submittedOptions(s *oar.Submission) (o script.Options) {
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				o = append(o, script.Option{Name: name, Value: v})
			}
		}
	}
	flag := func(name string, set oar.Switch) {
		if set {
			o = append(o, script.Option{Name: name})
		}
	}
	number := func(name string, n oar.Number) {
		if n != 0 {
			add(name, strconv.FormatInt(int64(n), 10))
		}
	}
	for _, v := range s.Resource {
		o = append(o, script.Option{Name: optionResource, Value: v}) // an empty one is refused
	}
	add(optionType, s.Type...)
	add("property", s.Property...)
	add("queue", s.Queue)
	add(optionReservation, s.Reservation)
	add(optionAnterior, s.Anterior...)
	add("project", s.Project)
	add("name", s.Name)
	add(optionDirectory, s.Workdir, s.Directory)
	add("stdout", s.Stdout)
	add("stderr", s.Stderr)
	add("notify", s.Notify)
	flag("hold", s.Hold)
	flag("interactive", s.Interactive)
	number(optionArray, s.Array)
	number(optionCheckpoint, s.Checkpoint)
	number(optionSignal, s.Signal)
	add("mem", s.Memory)
	add("image", s.Image)
	return o
}

// mergeScriptOptions adds the #OAR lines of the script to the options.
func mergeScriptOptions(s *oar.Submission, o script.Options) (script.Options, []string, error) {
	if !s.ScanScript {
		return o, nil, nil
	}
	name, _, _ := strings.Cut(s.Command, " ")
	found, warnings, err := script.Scan(name, s.Script)
	if err != nil {
		return nil, nil, err
	}
	if _, given := found.Value(optionParamFile); given && s.ParamFile == "" {
		return nil, nil, &oar.Error{
			Exit: oar.ExitScript, OAR: "[ERROR] Cannot open the parameter file of " + name + ".",
			Text: "the file is on another machine: send its text as param_file",
		}
	}
	o, ignored := script.Merge(o, found)
	for _, w := range warnings {
		ignored = append(ignored, w.String())
	}
	return o, ignored, nil
}

// Exit codes of oarsub that only submissions have.
const (
	exitResubmit    oar.Exit = 4
	exitInteractive oar.Exit = 9
	exitInsecure    oar.Exit = 16
	exitNoop        oar.Exit = 17
	exitStderr      oar.Exit = 243
	exitStdout      oar.Exit = 244
	exitNotify      oar.Exit = 250
)
