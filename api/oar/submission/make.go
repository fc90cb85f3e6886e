package submission

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar/admission"
	"vjob/oar/date"
	"vjob/oar/job"
	"vjob/oar/jobtype"
	"vjob/oar/mapping"
	"vjob/oar/message"
	"vjob/oar/paramfile"
	"vjob/oar/property"
	"vjob/oar/request"
	"vjob/oar/rest"
	"vjob/oar/script"
)

// Site is what an administrator has set.
type Site struct {
	Request   request.Site
	Mapping   mapping.Site
	Admission *admission.Policy
	// Queues are those that there are besides default and besteffort.
	Queues []string
	// Images tells the kind of each image of the catalogue; Image is the usual one.
	Images map[string]string
	Image  string
	Mails  bool // are sent
}

// Caller is who submits.
type Caller struct {
	Name                string
	Groups              []string
	Ungrouped           bool                        // the groups are unknown
	Containers          func() ([]Container, error) // those of the caller that have not ended
	WaitingReservations int                         // of the caller, as are the
	ActiveJobs          int
}

// Container is a container as those who want to run inside it may call it.
type Container struct {
	Name string // "" is none
	ID   int64
}

// Result is what becomes of a submission.
type Result struct {
	Said        []string // lines for the output of oarsub, before the numbers of jobs
	Warned      []string // lines beside it
	VJob        wire.Submission
	Array       bool // of more than one sub-job
	Reservation bool
	Record      job.Record
	// Inside are the containers in which it may run, if it names one: the first that has
	// room for it, and holds it for long enough, is the one.
	Inside []int64
}

// Make reads a submission. The present has the zone of the dates in it. An error is
// a [*message.Error], and the result then holds what was said before.
func Make(s *rest.Submission, by Caller, site *Site, world mapping.World, now time.Time) (Result, error) {
	m := maker{asked: s, by: by, site: site, now: now}
	o, ignored, err := scanned(s, options(s))
	m.Warned = ignored
	if err != nil {
		return m.Result, err
	}
	m.options = o
	for _, step := range []func() error{
		m.parameters,
		m.read,
		m.admit,
		m.record,
		func() error { return m.place(world) },
		m.terms,
	} {
		if err := step(); err != nil {
			return m.Result, err
		}
	}
	return m.Result, nil
}

// maker makes a result step by step.
type maker struct {
	Result
	asked   *rest.Submission
	by      Caller
	options script.Options
	site    *Site
	now     time.Time
	job     admission.Job
	when    date.Reservation
}

// value is the last value of an option.
func (m *maker) value(name string) string {
	v, _ := m.options.Value(name)
	return v
}

func (m *maker) warn(text string) { m.Warned = append(m.Warned, message.Line("# Warning: "+text)) }

// parameters finds how many sub-jobs there are, and what each gets.
func (m *maker) parameters() error {
	text, given := m.options.Value(array)
	if given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > paramfile.MaxLines {
			return &message.Error{
				Exit: message.ExitArray, OAR: "# Error: an array job must have a positive number of sub-jobs.",
				Text: fmt.Sprintf("the array has %s; want 1 to %d", text, paramfile.MaxLines),
			}
		}
		m.VJob.Array, m.Array = n, n > 1
	}
	if m.asked.ParamFile == "" {
		return nil
	}
	lines, err := paramfile.Parse(cmp.Or(m.asked.ParamFileName, m.value(paramFile), "param_file"), m.asked.ParamFile)
	if err != nil {
		return err
	}
	m.VJob.Array, m.Array = len(lines), len(lines) > 1
	for _, l := range lines {
		m.VJob.Parameters = append(m.VJob.Parameters, l.Text)
	}
	return nil
}

// read reads the languages of the options into a job on which rules can look.
func (m *maker) read() (err error) {
	j, by := &m.job, &m.by
	*j = admission.Job{
		User: by.Name, Groups: by.Groups, Ungrouped: by.Ungrouped, Queue: m.value("queue"), Project: m.value("project"), Types: m.options.Values(types),
		Array: m.VJob.Array, Image: m.value("image"), WaitingReservations: by.WaitingReservations, ActiveJobs: by.ActiveJobs,
	}
	_, j.Interactive = m.options.Value("interactive")
	for _, step := range []func() error{m.exclusive, m.spelt} {
		if err := step(); err != nil {
			return err
		}
	}
	if j.Request, err = request.Parse(m.options.Values(resource), m.site.Request); err != nil {
		return err
	}
	for _, w := range j.Request.Warnings {
		m.Warned = append(m.Warned, w.String())
	}
	for _, text := range m.options.Values("property") {
		f, err := property.Parse("-p", text)
		if err != nil {
			return err
		}
		j.Properties = append(j.Properties, f)
	}
	if text := m.value("mem"); text != "" {
		if j.Memory, err = cluster.ParseMiB(text); err != nil || j.Memory < 1 {
			return &message.Error{Exit: message.ExitOption, OAR: fmt.Sprintf("Value %q invalid for option mem (size expected)", text), Text: "want more than 0, such as 512MiB or 2GiB"}
		}
	}
	return m.reservation()
}

// maxWord is the most bytes of an option that is one word of people.
const maxWord = 1000

// spelt refuses words that are too long, and those that a terminal would obey.
func (m *maker) spelt() error {
	for _, name := range []string{"name", directory} {
		if text := m.value(name); strings.ContainsFunc(text, unicode.IsControl) {
			return &message.Error{
				Exit: message.ExitOption, OAR: fmt.Sprintf("Value %s invalid for option %s (characters that can be seen expected)", message.Short(text), name),
				Text: "want text without control characters",
			}
		}
	}
	for _, name := range []string{"name", "project", "queue", "image", directory, "stdout", "stderr", reservation} {
		if text := m.value(name); len(text) > maxWord {
			return &message.Error{
				Exit: message.ExitOption, OAR: fmt.Sprintf("Value %s invalid for option %s (at most %d bytes expected)", message.Short(text), name, maxWord),
				Text: fmt.Sprintf("it has %d bytes", len(text)),
			}
		}
	}
	return nil
}

// exclusive refuses options that exclude each other.
func (m *maker) exclusive() error {
	j := &m.job
	_, reserved := m.options.Value(reservation)
	noop := jobtype.Has(j.Types, "noop")
	switch {
	case j.Interactive && reserved:
		return &message.Error{Exit: message.ExitReservation, OAR: "# Error: a reservation cannot be interactive.", Text: "leave out -I or -r"}
	case j.Interactive && noop:
		return &message.Error{Exit: exitNoop, OAR: "# Error: a noop job cannot be interactive.", Text: "leave out -I or -t noop"}
	case j.Interactive && jobtype.Has(j.Types, container):
		return &message.Error{Exit: exitNoop, OAR: "# Error: a container cannot be interactive.", Text: "nothing runs in it but other jobs: submit one with -t inner= and -I"}
	case j.Interactive && m.asked.ParamFile != "":
		return &message.Error{Exit: exitInteractive, OAR: "# Error: a parameter file-based array job cannot be interactive.", Text: "leave out -I"}
	case j.Interactive && m.Array:
		return &message.Error{Exit: message.ExitResources, OAR: "# Error: an array job cannot be interactive.", Text: "leave out -I or --array"}
	case strings.ContainsFunc(m.asked.Command, unprintable) || strings.ContainsFunc(m.asked.Script, unprintable):
		return &message.Error{Exit: message.ExitUsage, OAR: "# Error: the command has characters that nobody can see.", Text: "want text without control characters"}
	case m.asked.Command == "" && !j.Interactive && !reserved && !noop && m.asked.Resubmit == 0:
		return &message.Error{
			Exit: message.ExitUsage, OAR: "# Error: command or interactive flag or advance reservation time or connection directive must be provided.",
			Text: "say what is to be run",
		}
	}
	return nil
}

// unprintable are control characters but those that part words and lines.
func unprintable(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) }

// reservation reads -r; its end says how long, unless the request does.
func (m *maker) reservation() (err error) {
	text, given := m.options.Value(reservation)
	if m.job.Reservation = given; !given {
		return nil
	}
	if m.when, err = date.ParseReservation(text, m.now); err != nil {
		return err
	}
	for _, w := range m.when.Warnings {
		m.Warned = append(m.Warned, w.String())
	}
	m.Reservation = true
	if m.when.End.IsZero() {
		return nil
	}
	for i := range m.job.Request.Alternatives {
		a := &m.job.Request.Alternatives[i]
		if a.Walltime != request.Unsaid {
			m.warn("ignore reservation end date because walltime is set in resource description.")
			continue
		}
		a.Walltime = m.when.Walltime()
	}
	return nil
}

// admit follows the rules of the administrator.
func (m *maker) admit() error {
	admitted, said, err := m.site.Admission.Admit(m.job)
	m.Said = append(m.Said, said...)
	if err != nil {
		return err
	}
	m.job = admitted
	known := append([]string{job.DefaultQueue, besteffort}, m.site.Queues...)
	if !slices.Contains(known, m.job.Queue) {
		return &message.Error{
			Exit: message.ExitQueue, OAR: fmt.Sprintf("# Error: queue '%s' does not exist", m.job.Queue),
			Text: "there are " + strings.Join(known, ", "),
		}
	}
	return nil
}

// place turns resources into VMs.
func (m *maker) place(world mapping.World) error {
	want := mapping.Want{Request: m.job.Request, Filters: m.job.Properties, Memory: m.job.Memory}
	meanings, err := mapping.Place(want, world, m.site.Mapping)
	if err != nil {
		return err
	}
	if m.Reservation && len(meanings) > 1 {
		m.warn("of several -l the first is reserved.")
		meanings = meanings[:1]
	}
	for i := range meanings {
		specs := m.specs(meanings[i].VMs, meanings[i].Walltime)
		shape := wire.Shape{VMs: specs, WalltimeSeconds: m.walltime(meanings[i].Walltime), Rules: meanings[i].Rules}
		if i == 0 {
			m.VJob.VMs, m.VJob.WalltimeSeconds, m.VJob.Rules = shape.VMs, shape.WalltimeSeconds, shape.Rules
			continue
		}
		m.VJob.Shapes = append(m.VJob.Shapes, shape)
	}
	if n := len(m.VJob.Shapes); n > 0 && m.VJob.WalltimeSeconds == 0 {
		return &message.Error{Exit: message.ExitRequest, OAR: "# Error: cannot recognize walltime resource value", Text: "of several -l each needs a walltime: the one that ends first is taken"}
	}
	return nil
}

// walltime is in seconds; 0 is unlimited here, and as good as nothing in OAR.
func (m *maker) walltime(d time.Duration) int64 {
	switch {
	case d == request.Unsaid:
		return 0
	case d < time.Second:
		m.warn("walltime 0 is taken as one second.")
		return 1
	}
	return int64(d / time.Second)
}

// filename is what the name of a file of output may hold, as in OAR.
var filename = regexp.MustCompile(`^[a-zA-Z0-9_./ %-]*$`)

// record keeps what OAR knows of a job and a vjob has no place for.
func (m *maker) record() error {
	r, j := &m.Record, &m.job
	r.Name, r.Command, r.Script = m.value("name"), m.asked.Command, m.asked.Script != ""
	r.Directory, r.Queue, r.Types, r.Properties = m.value(directory), j.Queue, j.Types, j.Property()
	r.Interactive, r.InitialRequest = j.Interactive, m.asked.InitialRequest
	r.Resubmits = int64(m.asked.Resubmit)
	r.Checkpoint, _ = strconv.ParseInt(m.value(checkpoint), 10, 64)
	r.Signal, _ = strconv.ParseInt(m.value(signal), 10, 64)
	var wanted []string
	for _, a := range j.Request.Alternatives {
		wanted = append(wanted, a.String())
	}
	r.Wanted = strings.Join(wanted, " | ")
	for _, f := range []struct {
		option string
		exit   message.Exit
		at     *string
	}{{"stdout", exitStdout, &r.Stdout}, {"stderr", exitStderr, &r.Stderr}} {
		text := m.value(f.option)
		if !filename.MatchString(text) {
			return &message.Error{
				Exit: f.exit, OAR: fmt.Sprintf("# Error: invalid %s file name (bad character)", f.option),
				Text: fmt.Sprintf("%s: want letters, digits, and _ . / %% - and blanks", message.Short(text)),
			}
		}
		middle := ""
		if r.Name != "" {
			middle = r.Name + "."
		}
		*f.at = cmp.Or(text, "OAR."+middle+"%jobid%."+f.option)
	}
	return nil
}

// Refused is why a reservation cannot be had.
func Refused(why, text string) error {
	return &message.Error{Exit: message.ExitRefused, OAR: fmt.Sprintf("# Reservation not valid --> KO (%s)", why), Text: text}
}
