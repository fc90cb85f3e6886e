package submission

import (
	"strconv"
	"strings"

	"vjob/oar/message"
	"vjob/oar/rest"
	"vjob/oar/script"
)

// The options of oarsub by their long names, as far as they are named more than once.
const (
	resource    = "resource"
	reservation = "reservation"
	types       = "type"
	anterior    = "anterior"
	checkpoint  = "checkpoint"
	signal      = "signal"
	array       = "array"
	paramFile   = "array-param-file"
	directory   = "directory"
)

// options lists what a submission gives as options of the command line.
func options(s *rest.Submission) (o script.Options) {
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				o = append(o, script.Option{Name: name, Value: v})
			}
		}
	}
	flag := func(name string, set rest.Switch) {
		if set {
			o = append(o, script.Option{Name: name})
		}
	}
	number := func(name string, n rest.Number) {
		if n != 0 {
			add(name, strconv.FormatInt(int64(n), 10))
		}
	}
	for _, v := range s.Resource {
		o = append(o, script.Option{Name: resource, Value: v}) // an empty one is refused
	}
	add(types, s.Type...)
	add("property", s.Property...)
	add("queue", s.Queue)
	add(reservation, s.Reservation)
	add(anterior, s.Anterior...)
	add("project", s.Project)
	add("name", s.Name)
	add(directory, s.Workdir, s.Directory)
	add("stdout", s.Stdout)
	add("stderr", s.Stderr)
	add("notify", s.Notify)
	flag("hold", s.Hold)
	flag("interactive", s.Interactive)
	number(array, s.Array)
	number(checkpoint, s.Checkpoint)
	number(signal, s.Signal)
	add("mem", s.Memory)
	add("image", s.Image)
	return o
}

// scanned puts the #OAR lines of a script below the options.
func scanned(s *rest.Submission, o script.Options) (script.Options, []string, error) {
	if !s.ScanScript {
		return o, nil, nil
	}
	name, _, _ := strings.Cut(s.Command, " ")
	found, odd, err := script.Scan(name, s.Script)
	if err != nil {
		return nil, nil, err
	}
	if _, given := found.Value(paramFile); given && s.ParamFile == "" {
		return nil, nil, &message.Error{
			Exit: message.ExitScript, OAR: "[ERROR] Cannot open the parameter file of " + name + ".",
			Text: "the file is on another machine: send its text as param_file",
		}
	}
	o, ignored := script.Merge(o, found)
	for _, w := range odd {
		ignored = append(ignored, w.String())
	}
	return o, ignored, nil
}
