package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vjob/oar/getopt"
	"vjob/oar/jobtype"
	"vjob/oar/message"
	"vjob/oar/report"
	"vjob/oar/rest"
	"vjob/oar/script"
)

var subOptions = with(
	getopt.Option{Name: "interactive", Letter: "I", Meaning: "wait for the start and work in the first VM; leaving ends the job"},
	getopt.Option{Name: "connect", Letter: "C", Takes: getopt.Maybe, Meaning: "work in the first VM of a job that runs"},
	getopt.Option{Name: "resource", Letter: "l", Takes: getopt.Text, Meaning: "what is asked for, such as nodes=2/core=1,walltime=1:0:0; several are alternatives"},
	getopt.Option{Name: "property", Letter: "p", Takes: getopt.Text, Meaning: "properties that the nodes must have"},
	getopt.Option{Name: "queue", Letter: "q", Takes: getopt.Text, Meaning: "the queue"},
	getopt.Option{Name: "type", Letter: "t", Takes: getopt.Text, Meaning: "a type: besteffort, idempotent, container[=NAME], inner=ID, postpone=DATE, expire=DATE, deadline=DATE, deploy, noop …"},
	getopt.Option{Name: "reservation", Letter: "r", Takes: getopt.Text, Meaning: "\"START[, END]\" of a reservation"},
	getopt.Option{Name: "anterior", Letter: "a", Takes: getopt.Number, Meaning: "the number of a job that must have ended before"},
	getopt.Option{Name: "array", Takes: getopt.Number, Meaning: "how many jobs of the same kind"},
	getopt.Option{Name: "array-param-file", Takes: getopt.Text, Meaning: "a file with a line of parameters for each job of an array"},
	getopt.Option{Name: "scanscript", Letter: "S", Meaning: "read the #OAR lines of the script; its text is what the VMs run"},
	getopt.Option{Name: "name", Letter: "n", Takes: getopt.Text, Meaning: "a name"},
	getopt.Option{Name: "project", Takes: getopt.Text, Meaning: "the project for which the job counts"},
	getopt.Option{Name: "directory", Letter: "d", Takes: getopt.Text, Meaning: "the directory, OAR_WORKDIR of the job"},
	getopt.Option{Name: "stdout", Letter: "O", Takes: getopt.Text, Meaning: "the file of output, where the VM has the directory; it is on the console in any case"},
	getopt.Option{Name: "stderr", Letter: "E", Takes: getopt.Text, Meaning: "likewise"},
	getopt.Option{Name: "notify", Takes: getopt.Text, Meaning: "who is told: [TAG, …]mail:NAME@HOST, or [TAG, …]https://…"},
	getopt.Option{Name: "hold", Meaning: "do not start before oarresume"},
	getopt.Option{Name: "checkpoint", Takes: getopt.Number, Meaning: "kept, and without effect: VMs are suspended with all their memory"},
	getopt.Option{Name: "signal", Takes: getopt.Number, Meaning: "likewise"},
	getopt.Option{Name: "resubmit", Takes: getopt.Number, Meaning: "submit a job that has ended again"},
	getopt.Option{Name: "mem", Takes: getopt.Text, Meaning: "memory of each VM, such as 2GiB"},
	getopt.Option{Name: "image", Takes: getopt.Text, Meaning: "image of the VMs, by its id in the catalogue"},
	getopt.Option{Name: "use-job-key", Letter: "k"},
	getopt.Option{Name: "import-job-key-from-file", Letter: "i", Takes: getopt.Text},
	getopt.Option{Name: "import-job-key-inline", Takes: getopt.Text},
	getopt.Option{Name: "export-job-key-to-file", Letter: "e", Takes: getopt.Text},
	getopt.Option{Name: "verbose", Letter: "v"},
)

// idle are options of oarsub that mean nothing here, with what is told of them.
var idle = []struct{ name, why string }{
	{"use-job-key", "there are no job keys"},
	{"import-job-key-from-file", "there are no job keys"},
	{"import-job-key-inline", "there are no job keys"},
	{"export-job-key-to-file", "there are no job keys"},
	{"verbose", "all that is to be said is said"},
}

// sub is oarsub.
func sub(ctx context.Context, r *run) error {
	for _, o := range idle {
		if r.has(o.name) {
			r.tell(fmt.Sprintf("# Warning: --%s has no effect: %s.", o.name, o.why))
		}
	}
	if r.has("connect") {
		return connect(ctx, r)
	}
	if err := exclusive(r); err != nil {
		return err
	}
	s, err := submission(r)
	if err != nil {
		return err
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	if s.Interactive { // from before there is a job that would have to be ended
		var stop context.CancelFunc
		ctx, stop = r.Interrupted(ctx)
		defer stop()
	}
	var a rest.Accepted
	if err := c.Do(ctx, "POST", "/oarapi/jobs", s, &a); err != nil {
		return tooLong(s, err)
	}
	if a.Warnings != "" {
		r.tell(a.Warnings)
	}
	if done, err := r.structured([]byte(report.Submitted(a.ID))); done || err != nil {
		return err
	}
	r.print("%s", a.Output)
	if s.Interactive {
		return interactive(ctx, r, a.ID)
	}
	return nil
}

// exclusive refuses what cannot be meant, before anything is read.
func exclusive(r *run) error {
	noop := jobtype.Has(r.given.Values("type"), "noop")
	array, isArray := r.given.Value("array")
	switch {
	case r.has("resubmit") && len(r.arguments) == 0:
		return nil
	case len(r.arguments) != 1 && !r.has("interactive") && !r.has("reservation") && !noop:
		return unusable(5, "")
	case r.has("interactive") && r.has("reservation"):
		return unusable(7, "# Error: a reservation cannot be interactive.")
	case r.has("reservation") && r.value("reservation") == "":
		return stopped(7, `# Error: syntax error in <start date> for the -r or --reservation option. It takes a date as argument with the format: "YYYY-MM-DD hh:mm:ss".`)
	case r.has("interactive") && noop:
		return stopped(17, "# Error: a noop job cannot be interactive.")
	case r.has("interactive") && r.has("array-param-file"):
		return unusable(9, "# Error: a parameter file-based array job cannot be interactive.")
	case r.has("interactive") && isArray && strings.TrimLeft(array, "+0") != "1":
		return unusable(8, "# Error: an array job cannot be interactive.")
	case isArray && (strings.HasPrefix(array, "-") || strings.Trim(array, "0+") == ""):
		return unusable(6, "# Error: an array job must have a positive number of sub-jobs.")
	}
	return nil
}

// submission is what is sent to the daemon.
func submission(r *run) (*rest.Submission, error) {
	s := &rest.Submission{InitialRequest: initial(r.line), TimeZone: zone(r.Getenv)}
	if len(r.arguments) > 0 {
		s.Command = r.arguments[0]
	}
	o := r.given
	if r.has("scanscript") && s.Command != "" {
		var err error
		if o, err = scan(r, s); err != nil {
			return nil, err
		}
	}
	value := func(name string) string { v, _ := o.Value(name); return v }
	count := func(name string) rest.Number { n, _ := number(value(name)); return rest.Number(n) }
	flag := func(name string) rest.Switch { _, given := o.Value(name); return rest.Switch(given) }
	s.Resource, s.Property, s.Type, s.Anterior = o.Values("resource"), o.Values("property"), o.Values("type"), o.Values("anterior")
	s.Queue, s.Reservation, s.Project, s.Name = value("queue"), value("reservation"), value("project"), value("name")
	s.Directory, s.Stdout, s.Stderr, s.Notify = value("directory"), value("stdout"), value("stderr"), value("notify")
	s.Memory, s.Image, s.Hold, s.Interactive = value("mem"), value("image"), flag("hold"), flag("interactive")
	if s.Interactive {
		rows, columns := r.Size()
		s.Rows, s.Columns = rest.Number(rows), rest.Number(columns)
	}
	s.Array, s.Checkpoint, s.Signal, s.Resubmit = count("array"), count("checkpoint"), count("signal"), count("resubmit")
	if s.Directory == "" {
		s.Directory, _ = os.Getwd() // without one there is none
	}
	if file, given := o.Value("array-param-file"); given {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, &message.Error{Exit: message.ExitScript, OAR: "[ERROR] Cannot open the parameter file " + file + ".", Text: err.Error()}
		}
		if strings.TrimSpace(string(text)) == "" {
			return nil, unusable(6, "# Error: an array job must have a positive number of sub-jobs.")
		}
		s.ParamFile, s.ParamFileName = string(text), file
	}
	return s, nil
}

// scan reads the script that the command names, and puts its #OAR lines below the
// options.
func scan(r *run, s *rest.Submission) (script.Options, error) {
	file, _, _ := strings.Cut(s.Command, " ")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &message.Error{Exit: message.ExitScript, OAR: fmt.Sprintf("[ERROR] Cannot open the script %s.", file), Text: err.Error()}
	}
	found, odd, err := script.Scan(file, string(text))
	if err != nil {
		return nil, err
	}
	for _, w := range odd {
		r.tell(w.String())
	}
	s.Script = string(text)
	o, ignored := script.Merge(r.given, found)
	for _, line := range ignored {
		r.tell(line)
	}
	return o, nil
}

// initial is the command line for people to read.
func initial(line []string) string {
	words := []string{"oarsub"}
	for _, w := range line {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&;|<>(){}*?") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// zone is the name of the user's time zone; "" is unknown.
func zone(getenv func(string) string) string {
	if name := getenv("TZ"); name != "" {
		return strings.TrimPrefix(name, ":")
	}
	at, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(at, "/zoneinfo/")
	return name
}
