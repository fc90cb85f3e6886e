package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/report"
	"vjob/oar/script"
)

var subOptions = withFormats(
	script.OptionSpec{Name: "interactive", Letter: "I", Meaning: "wait for the start and work in the first VM; leaving ends the job"},
	script.OptionSpec{Name: "connect", Letter: "C", Argument: script.OptionalArgument, Meaning: "work in the first VM of a job that runs"},
	script.OptionSpec{Name: "resource", Letter: "l", Argument: script.TextArgument, Meaning: "the request, such as nodes=2/core=1,walltime=1:0:0; several are alternatives"},
	script.OptionSpec{Name: "property", Letter: "p", Argument: script.TextArgument, Meaning: "properties that the nodes must have"},
	script.OptionSpec{Name: "queue", Letter: "q", Argument: script.TextArgument, Meaning: "the queue"},
	script.OptionSpec{Name: "type", Letter: "t", Argument: script.TextArgument, Meaning: "a type: besteffort, idempotent, container[=NAME], inner=ID, postpone=DATE, expire=DATE, deadline=DATE, deploy, noop …"},
	script.OptionSpec{Name: "reservation", Letter: "r", Argument: script.TextArgument, Meaning: "\"START[, END]\" of a reservation"},
	script.OptionSpec{Name: "anterior", Letter: "a", Argument: script.NumberArgument, Meaning: "the number of a job that must have ended before"},
	script.OptionSpec{Name: "array", Argument: script.NumberArgument, Meaning: "how many jobs of the same kind"},
	script.OptionSpec{Name: "array-param-file", Argument: script.TextArgument, Meaning: "a file with a line of parameters for each job of an array"},
	script.OptionSpec{Name: "scanscript", Letter: "S", Meaning: "read the #OAR lines of the script; its text is what the VMs run"},
	script.OptionSpec{Name: "name", Letter: "n", Argument: script.TextArgument, Meaning: "a name"},
	script.OptionSpec{Name: "project", Argument: script.TextArgument, Meaning: "the project for which the job counts"},
	script.OptionSpec{Name: "directory", Letter: "d", Argument: script.TextArgument, Meaning: "the directory, OAR_WORKDIR of the job"},
	script.OptionSpec{Name: "stdout", Letter: "O", Argument: script.TextArgument, Meaning: "output file in the output directory of the site, and in the VM if it has the directory; vjob logs prints the output, too"},
	script.OptionSpec{Name: "stderr", Letter: "E", Argument: script.TextArgument, Meaning: "file of errors, as --stdout"},
	script.OptionSpec{Name: "notify", Argument: script.TextArgument, Meaning: "address of notifications: [TAG, …]mail:NAME@HOST, or [TAG, …]https://…"},
	script.OptionSpec{Name: "hold", Meaning: "do not start before oarresume"},
	script.OptionSpec{Name: "checkpoint", Argument: script.NumberArgument, Meaning: "no effect: VMs are suspended with their memory"},
	script.OptionSpec{Name: "signal", Argument: script.NumberArgument, Meaning: "no effect"},
	script.OptionSpec{Name: "resubmit", Argument: script.NumberArgument, Meaning: "submit a job that has ended again"},
	script.OptionSpec{Name: "mem", Argument: script.TextArgument, Meaning: "memory of each VM, such as 2GiB"},
	script.OptionSpec{Name: "image", Argument: script.TextArgument, Meaning: "image of the VMs, by its id in the catalogue"},
	script.OptionSpec{Name: "use-job-key", Letter: "k"},
	script.OptionSpec{Name: "import-job-key-from-file", Letter: "i", Argument: script.TextArgument},
	script.OptionSpec{Name: "import-job-key-inline", Argument: script.TextArgument},
	script.OptionSpec{Name: "export-job-key-to-file", Letter: "e", Argument: script.TextArgument},
	script.OptionSpec{Name: "verbose", Letter: "v"},
)

// ineffectiveOptions are options of oarsub without effect here, with a warning for each.
var ineffectiveOptions = []struct{ name, why string }{
	{"use-job-key", "there are no job keys"},
	{"import-job-key-from-file", "there are no job keys"},
	{"import-job-key-inline", "there are no job keys"},
	{"export-job-key-to-file", "there are no job keys"},
	{"import-job-key-inline-priv", "there are no job keys"},
	{"stagein", "the VM has the files of its image and of the file systems that it mounts"},
	{"stagein-md5sum", "the VM has the files of its image and of the file systems that it mounts"},
	{"verbose", "output is always verbose"},
}

// warnIneffective warns of the options without effect.
func (r *commandRun) warnIneffective(given script.Options) {
	for _, o := range ineffectiveOptions {
		if _, has := given.Value(o.name); has {
			r.printError(fmt.Sprintf("# Warning: --%s has no effect: %s.", o.name, o.why))
		}
	}
}

// sub is oarsub.
func sub(ctx context.Context, r *commandRun) error {
	r.warnIneffective(r.given)
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
	if s.Interactive { // before there is a job to delete
		var stop context.CancelFunc
		ctx, stop = r.Interrupted(ctx)
		defer stop()
	}
	var a oar.Accepted
	if err := c.Do(ctx, "POST", "/oarapi/jobs", s, &a); err != nil {
		return tooLong(s, err)
	}
	if a.Warnings != "" {
		r.printError(a.Warnings)
	}
	if done, err := r.printStructured([]byte(report.Submitted(a.ID))); done || err != nil {
		return err
	}
	r.print("%s", a.Output)
	if s.Interactive {
		return interactive(ctx, r, a.ID)
	}
	return nil
}

// exclusive refuses combinations of options before files are read.
func exclusive(r *commandRun) error {
	noop := oar.HasJobType(r.given.Values("type"), "noop")
	array, isArray := r.given.Value("array")
	switch {
	case r.has("resubmit") && len(r.arguments) == 0:
		return nil
	case len(r.arguments) != 1 && !r.has("interactive") && !r.has("reservation") && !noop:
		return usageError(5, "")
	case r.has("interactive") && r.has("reservation"):
		return usageError(7, "# Error: a reservation cannot be interactive.")
	case r.has("reservation") && r.value("reservation") == "":
		return exitError(7, `# Error: syntax error in <start date> for the -r or --reservation option. It takes a date as argument with the format: "YYYY-MM-DD hh:mm:ss".`)
	case r.has("interactive") && noop:
		return exitError(17, "# Error: a noop job cannot be interactive.")
	case r.has("interactive") && r.has("array-param-file"):
		return usageError(9, "# Error: a parameter file-based array job cannot be interactive.")
	case r.has("interactive") && isArray && strings.TrimLeft(array, "+0") != "1":
		return usageError(8, "# Error: an array job cannot be interactive.")
	case isArray && (strings.HasPrefix(array, "-") || strings.Trim(array, "0+") == ""):
		return usageError(6, "# Error: an array job must have a positive number of sub-jobs.")
	}
	return nil
}

// submission builds the body of the request.
func submission(r *commandRun) (*oar.Submission, error) {
	s := &oar.Submission{InitialRequest: commandLine(r.line), TimeZone: timeZone(r.Getenv)}
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
	count := func(name string) oar.Number { n, _ := number(value(name)); return oar.Number(n) }
	flag := func(name string) oar.Switch { _, given := o.Value(name); return oar.Switch(given) }
	s.Resource, s.Property, s.Type, s.Anterior = o.Values("resource"), o.Values("property"), o.Values("type"), o.Values("anterior")
	s.Queue, s.Reservation, s.Project, s.Name = value("queue"), value("reservation"), value("project"), value("name")
	s.Directory, s.Stdout, s.Stderr, s.Notify = value("directory"), value("stdout"), value("stderr"), value("notify")
	s.Memory, s.Image, s.Hold, s.Interactive = value("mem"), value("image"), flag("hold"), flag("interactive")
	if s.Interactive {
		rows, columns := r.Size()
		s.Rows, s.Columns = oar.Number(rows), oar.Number(columns)
	}
	s.Array, s.Checkpoint, s.Signal, s.Resubmit = count("array"), count("checkpoint"), count("signal"), count("resubmit")
	if s.Directory == "" {
		s.Directory, _ = os.Getwd() // may be empty
	}
	if file, given := o.Value("array-param-file"); given {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, &oar.Error{Exit: oar.ExitScript, OAR: "[ERROR] Cannot open the parameter file " + file + ".", Text: err.Error()}
		}
		if strings.TrimSpace(string(text)) == "" {
			return nil, usageError(6, "# Error: an array job must have a positive number of sub-jobs.")
		}
		s.ParamFile, s.ParamFileName = string(text), file
	}
	return s, nil
}

// scan reads the script that the command names and adds the options of its #OAR lines. As in OAR, a script that is not
// executable is accepted, and fails when the job runs it.
func scan(r *commandRun, s *oar.Submission) (script.Options, error) {
	file, _, _ := strings.Cut(s.Command, " ")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &oar.Error{Exit: oar.ExitScript, OAR: fmt.Sprintf("[ERROR] Cannot open the script %s.", file), Text: err.Error()}
	}
	found, warnings, err := script.Scan(file, string(text))
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		r.printError(w.String())
	}
	r.warnIneffective(found)
	s.Script = string(text)
	if info, err := os.Stat(file); err == nil && info.Mode()&0o111 == 0 {
		r.printError(fmt.Sprintf("# Warning: %s has no execution bit: the job will end with exit code 126, Permission denied. chmod +x %s", file, file))
		s.Script = fmt.Sprintf("#!/bin/sh\necho %s >&2\nexit 126\n", cluster.Quote("sh: "+file+": Permission denied"))
	}
	o, ignored := script.Merge(r.given, found)
	for _, line := range ignored {
		r.printError(line)
	}
	return o, nil
}

// commandLine returns the command line for display.
func commandLine(line []string) string {
	words := []string{"oarsub"}
	for _, w := range line {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&;|<>(){}*?") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// timeZone returns the name of the user's time zone, or "" if unknown.
func timeZone(getenv func(string) string) string {
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

// tooLong adds the longest part of a submission to the daemon's error about its size. Other errors
// stay as they are.
func tooLong(s *oar.Submission, err error) error {
	answer, ok := errors.AsType[*client.Error](err)
	if !ok || answer.Status != http.StatusRequestEntityTooLarge {
		return err
	}
	type part struct {
		exit      oar.Exit
		oar, name string
		text      string
	}
	longest := part{oar.ExitOption, "", "the command", s.Command}
	for _, p := range []part{
		{oar.ExitScript, "[ERROR] Cannot open the parameter file " + s.ParamFileName + ".", s.ParamFileName, s.ParamFile},
		{oar.ExitScript, "[ERROR] Cannot open the script " + s.Command + ".", s.Command, s.Script},
		{oar.ExitRequest, "# Error: cannot recognize the resource description", "-l", strings.Join(s.Resource, "")},
		{oar.ExitResources, oar.BadRequest, "-p", strings.Join(s.Property, "")},
		{oar.ExitAdmission, "[ADMISSION RULE] Error: unknown job type", "-t", strings.Join(s.Type, "")},
		{oar.ExitOption, "", "the other options", s.Name + s.Project + s.Queue + s.Notify + s.Directory + s.Stdout + s.Stderr + s.Reservation},
	} {
		if len(p.text) > len(longest.text) {
			longest = p
		}
	}
	_, want, _ := strings.Cut(answer.Message, "want ")
	return &oar.Error{
		Exit: longest.exit, OAR: longest.oar,
		Text: fmt.Sprintf("%s: %d bytes are too many: want %s, with all that belongs to the job (limits.submission_size of vjobd)", longest.name, len(longest.text), want),
	}
}
