package oarapi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
	"vjob/oar/launch"
	"vjob/oar/property"
	"vjob/oar/request"
	"vjob/oar/script"
)

// Caller is the user of a submission.
type Caller struct {
	Name                string
	Groups              []string
	GroupsUnknown       bool                        // rules about groups apply
	Containers          func() ([]Container, error) // live containers of the caller
	WaitingReservations int                         // of the caller, like
	ActiveJobs          int
	OutputFolder        string // below which the daemon keeps output files of the caller
	NoOutput            error  // why it keeps none; nil if it does
}

// Container is a container job.
type Container struct {
	Name string // may be ""
	ID   int64
}

// Translation is a submission as a vjob.
type Translation struct {
	Output      []string // lines that oarsub prints before the job numbers
	Warnings    []string // lines for standard error
	VJob        wire.Submission
	Array       bool // of more than one sub-job
	Reservation bool
	Record      oar.Record
	// Containers are the containers that an inner job may use; the first that has room for long enough
	// takes it.
	Containers []int64
}

// Translate translates a submission. Dates are in the zone of now. The error is an [*oar.Error]; the
// translation then has the output before it.
func Translate(s *oar.Submission, by Caller, site *admission.Site, nodes request.Inventory, now time.Time) (Translation, error) {
	m := translator{submission: s, caller: by, site: site, now: now}
	o, ignored, err := mergeScriptOptions(s, submittedOptions(s))
	m.Warnings = ignored
	if err != nil {
		return m.Translation, err
	}
	m.options = o
	for _, step := range []func() error{
		m.readParameters,
		m.readOptions,
		m.admit,
		m.record,
		m.nameFiles,
		func() error { return m.place(nodes) },
		m.terms,
	} {
		if err := step(); err != nil {
			return m.Translation, err
		}
	}
	return m.Translation, nil
}

// translator builds a translation step by step.
type translator struct {
	Translation
	submission *oar.Submission
	caller     Caller
	options    script.Options
	site       *admission.Site
	now        time.Time
	job        admission.Job
	stdout     launch.File
	stderr     launch.File
	reserved   oar.Reservation
}

// value returns the last value of an option.
func (m *translator) value(name string) string {
	v, _ := m.options.Value(name)
	return v
}

func (m *translator) warn(text string) {
	m.Warnings = append(m.Warnings, oar.PrintableLine("# Warning: "+text))
}

// readParameters reads the number of sub-jobs and their parameters.
func (m *translator) readParameters() error {
	text, given := m.options.Value(optionArray)
	if given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > script.MaxParameterLines {
			return &oar.Error{
				Exit: oar.ExitArray, OAR: "# Error: an array job must have a positive number of sub-jobs.",
				Text: fmt.Sprintf("the array has %s; want 1 to %d", text, script.MaxParameterLines),
			}
		}
		m.VJob.Array, m.Array = n, n > 1
	}
	if m.submission.ParamFile == "" {
		return nil
	}
	lines, err := script.ParseParameters(cmp.Or(m.submission.ParamFileName, m.value(optionParamFile), "param_file"), m.submission.ParamFile)
	if err != nil {
		return err
	}
	m.VJob.Array, m.Array = len(lines), len(lines) > 1
	for _, l := range lines {
		m.VJob.Parameters = append(m.VJob.Parameters, l.Text)
	}
	return nil
}

// readOptions parses the options into a job for rules of admission.
func (m *translator) readOptions() (err error) {
	j, by := &m.job, &m.caller
	*j = admission.Job{
		User: by.Name, Groups: by.Groups, GroupsUnknown: by.GroupsUnknown, Queue: m.value("queue"), Project: m.value("project"), Types: m.options.Values(optionType),
		Array: m.VJob.Array, Image: m.value("image"), WaitingReservations: by.WaitingReservations, ActiveJobs: by.ActiveJobs,
	}
	_, j.Interactive = m.options.Value("interactive")
	for _, step := range []func() error{m.checkExclusive, m.checkWords} {
		if err := step(); err != nil {
			return err
		}
	}
	if j.Request, err = request.Parse(m.options.Values(optionResource), m.site.Request); err != nil {
		return err
	}
	for _, w := range j.Request.Warnings {
		m.Warnings = append(m.Warnings, w.String())
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
			return &oar.Error{Exit: oar.ExitOption, OAR: fmt.Sprintf("Value %q invalid for option mem (size expected)", text), Text: "want more than 0, such as 512MiB or 2GiB"}
		}
	}
	return m.readReservation()
}

// maxWord is the maximal length in bytes of an option such as a name.
const maxWord = 1000

// checkWords refuses words that are too long or have control characters.
func (m *translator) checkWords() error {
	for _, name := range []string{"name", optionDirectory} {
		if text := m.value(name); !cluster.Printable(text, "") {
			return &oar.Error{
				Exit: oar.ExitOption, OAR: fmt.Sprintf("Value %s invalid for option %s (characters that can be seen expected)", oar.Quoted(text), name),
				Text: "want text without control characters",
			}
		}
	}
	for _, name := range []string{"name", "project", "queue", "image", optionDirectory, "stdout", "stderr", optionReservation} {
		if text := m.value(name); len(text) > maxWord {
			return &oar.Error{
				Exit: oar.ExitOption, OAR: fmt.Sprintf("Value %s invalid for option %s (at most %d bytes expected)", oar.Quoted(text), name, maxWord),
				Text: fmt.Sprintf("it has %d bytes", len(text)),
			}
		}
	}
	return nil
}

// checkExclusive refuses options that exclude each other.
func (m *translator) checkExclusive() error {
	j := &m.job
	_, reserved := m.options.Value(optionReservation)
	noop := oar.HasJobType(j.Types, "noop")
	switch {
	case j.Interactive && reserved:
		return &oar.Error{Exit: oar.ExitReservation, OAR: "# Error: a reservation cannot be interactive.", Text: "leave out -I or -r"}
	case j.Interactive && noop:
		return &oar.Error{Exit: exitNoop, OAR: "# Error: a noop job cannot be interactive.", Text: "leave out -I or -t noop"}
	case j.Interactive && oar.HasJobType(j.Types, typeContainer):
		return &oar.Error{Exit: exitNoop, OAR: "# Error: a container cannot be interactive.", Text: "it runs only other jobs: submit one with -t inner= and -I"}
	case j.Interactive && m.submission.ParamFile != "":
		return &oar.Error{Exit: exitInteractive, OAR: "# Error: a parameter file-based array job cannot be interactive.", Text: "leave out -I"}
	case j.Interactive && m.Array:
		return &oar.Error{Exit: oar.ExitResources, OAR: "# Error: an array job cannot be interactive.", Text: "leave out -I or --array"}
	case !cluster.Printable(m.submission.Command, "\n\t\r") || !cluster.Printable(m.submission.Script, "\n\t\r"):
		return &oar.Error{Exit: oar.ExitUsage, OAR: "# Error: the command has control characters.", Text: "want text without control characters"}
	case m.submission.Command == "" && !j.Interactive && !reserved && !noop && m.submission.Resubmit == 0:
		return &oar.Error{
			Exit: oar.ExitUsage, OAR: "# Error: command or interactive flag or advance reservation time or connection directive must be provided.",
			Text: "say what is to be run",
		}
	}
	return nil
}

// readReservation parses -r. Its end sets the walltime unless the request does.
func (m *translator) readReservation() (err error) {
	text, given := m.options.Value(optionReservation)
	m.job.Reservation = given
	if !given {
		return nil
	}
	if m.reserved, err = oar.ParseReservation(text, m.now); err != nil {
		return err
	}
	for _, w := range m.reserved.Warnings {
		m.Warnings = append(m.Warnings, w.String())
	}
	m.Reservation = true
	if m.reserved.End.IsZero() {
		return nil
	}
	for i := range m.job.Request.Alternatives {
		a := &m.job.Request.Alternatives[i]
		if a.Walltime != request.NoWalltime {
			m.warn("ignore reservation end date because walltime is set in resource description.")
			continue
		}
		a.Walltime = m.reserved.Walltime()
	}
	return nil
}

// admit applies the rules of admission.
func (m *translator) admit() error {
	admitted, said, err := m.site.Policy.Admit(m.job)
	m.Output = append(m.Output, said...)
	if err != nil {
		return err
	}
	m.job = admitted
	known := append([]string{oar.DefaultQueue, typeBesteffort}, m.site.Queues...)
	if !slices.Contains(known, m.job.Queue) {
		return &oar.Error{
			Exit: oar.ExitQueue, OAR: fmt.Sprintf("# Error: queue '%s' does not exist", m.job.Queue),
			Text: "there are " + strings.Join(known, ", "),
		}
	}
	return nil
}

// place translates resources into VMs.
func (m *translator) place(nodes request.Inventory) error {
	spec := request.Spec{Request: m.job.Request, Filters: m.job.Properties, Memory: m.job.Memory, Sharers: oar.Sharers(m.job.Types)}
	placements, err := request.Place(spec, nodes, m.site.Request)
	if err != nil {
		return err
	}
	if m.Reservation && len(placements) > 1 {
		m.warn("of several -l the first is reserved.")
		placements = placements[:1]
	}
	for i := range placements {
		specs := m.vmSpecs(placements[i].VMs, placements[i].Walltime)
		shape := wire.Shape{VMs: specs, WalltimeSeconds: m.walltime(placements[i].Walltime), Rules: placements[i].Rules}
		if i == 0 {
			m.VJob.VMs, m.VJob.WalltimeSeconds, m.VJob.Rules = shape.VMs, shape.WalltimeSeconds, shape.Rules
			continue
		}
		m.VJob.Shapes = append(m.VJob.Shapes, shape)
	}
	if len(m.VJob.Shapes) == 0 {
		m.Record.Walltime = m.VJob.WalltimeSeconds
	}
	if n := len(m.VJob.Shapes); n > 0 && m.VJob.WalltimeSeconds == 0 {
		return &oar.Error{Exit: oar.ExitRequest, OAR: "# Error: cannot recognize walltime resource value", Text: "of several -l each needs a walltime: the one that ends first is taken"}
	}
	return nil
}

// walltime converts a walltime to seconds. 0 is unlimited in a vjob, but no time in OAR, so it becomes 1.
func (m *translator) walltime(d time.Duration) int64 {
	switch {
	case d == request.NoWalltime:
		return 0
	case d < time.Second:
		m.warn("walltime 0 is taken as one second.")
		return 1
	}
	return int64(d / time.Second)
}

// record keeps what OAR knows of a job beyond a vjob.
func (m *translator) record() error {
	r, j := &m.Record, &m.job
	r.Name, r.Command, r.Script = m.value("name"), m.submission.Command, m.submission.Script != ""
	r.Directory, r.Queue, r.Types, r.Properties = m.value(optionDirectory), j.Queue, j.Types, j.Property()
	r.Interactive, r.InitialRequest = j.Interactive, m.submission.InitialRequest
	r.Resubmits = int64(m.submission.Resubmit)
	r.Checkpoint, _ = strconv.ParseInt(m.value(optionCheckpoint), 10, 64)
	r.Signal, _ = strconv.ParseInt(m.value(optionSignal), 10, 64)
	var wanted []string
	for _, a := range j.Request.Alternatives {
		wanted = append(wanted, a.String())
	}
	r.Wanted = strings.Join(wanted, " | ")
	r.Stdout, r.Stderr = m.value("stdout"), m.value("stderr")
	return nil
}

// RefusedReservation is the error for a reservation that is refused.
func RefusedReservation(why, text string) error {
	return &oar.Error{Exit: oar.ExitRefused, OAR: fmt.Sprintf("# Reservation not valid --> KO (%s)", why), Text: text}
}
