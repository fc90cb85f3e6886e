package vjobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/jobscript"
	"vjob/cmd/vjob/vjobfile"
	"vjob/ctxswitch/placement"
	"vjob/internal/document"
)

// submission is the flags of `vjob submit`.
type submission struct {
	name     string
	vms      int
	cpu      string
	memory   string
	walltime string
	image    string
	hold     bool
	priority int
	spread   bool
	gather   bool
	ban      []string
	fence    []string
	ruleFile string
	rule     []string
	env      []string
	script   string
	job      *jobscript.Script // nil without one
	steps    string
	key      string
	wait     string // "", start or end
	timeout  time.Duration
	shapes   []string
	terms    termFlags
	array    arrayFlags
}

// ofVMs are the flags that describe the VMs: a vjob file does that itself.
var ofVMs = []string{"vms", "cpu", "mem", "image", "env", "script", "steps"}

func submitCommand(a *cli.App) *cobra.Command {
	cmd, _ := newSubmit(a)
	return cmd
}

// ReadFile returns what `vjob submit FILE` submits, of a vjob file or a script.
func ReadFile(ctx context.Context, a *cli.App, name string) (wire.Submission, error) {
	cmd, f := newSubmit(a) //nolint:contextcheck // the command has it
	cmd.SetContext(ctx)
	return f.read(a, cmd, []string{name})
}

// newSubmit returns the command, and what its flags are read into.
func newSubmit(a *cli.App) (cmd *cobra.Command, f *submission) {
	f = &submission{}
	cmd = &cobra.Command{
		Use:   "submit [flags] [FILE | -- COMMAND [ARGUMENT...]]",
		Short: "submit a vjob, described by a file, a script or flags",
		Long: `Submits a vjob and prints its number. Once it is printed, the vjob is safe.

FILE is a vjob file in YAML or JSON, or a script ("-" is the standard input). Without one the flags
describe equal VMs, and what stands after -- is the command that each runs.

A script begins with #!. Each VM runs it. Lines such as "#VJOB --vms 4 --walltime 1:00:00" in its head
have flags; those of the command line take precedence. Lines with #SBATCH and #OAR are understood as
far as they have a counterpart; such a script runs in the first VM, and its end ends the vjob.`,
		Example: `  vjob submit sim-run.yaml
  vjob submit run.sh
  vjob submit --name sim-run --vms 4 --cpu 1 --mem 512MiB --walltime 1:00:00 -- ./run.sh --fast
  vjob submit --wait -- sh -c 'echo hello; sleep 60; exit 3'
  vjob submit --name test --vms 2 --steps "2m@1,1m@0.5"    # simulated guests: 2 minutes of 1 processor, then 1 of 0.5`,
		RunE: func(cmd *cobra.Command, args []string) error { return submit(a, cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.SetNormalizeFunc(synonyms)
	flags.StringVar(&f.name, "name", "", "`NAME` of the vjob, that no other live vjob of yours has")
	flags.IntVar(&f.vms, "vms", 1, "how many VMs")
	flags.StringVar(&f.cpu, "cpu", "1", "`PROCESSORS` of each VM, such as 2, 0.5 or 250m")
	flags.StringVar(&f.memory, "mem", "512MiB", "`MEMORY` of each VM, such as 512MiB or 2GiB")
	flags.StringVar(&f.walltime, "walltime", "", "most running `TIME`: hours:minutes:seconds, or 90m; none is unlimited")
	flags.StringArrayVar(&f.shapes, "shape", nil, "`ALTERNATIVE` such as count=4,walltime=2h: of several the one that ends first is taken; may be repeated")
	flags.StringVar(&f.image, "image", "", "`ID` in the catalogue (see vjob images); none is the default image")
	flags.StringVar(&f.script, "script", "", "`FILE` with a script that each VM runs")
	flags.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` for the command or script; may be repeated")
	flags.StringVar(&f.steps, "steps", "", "work of simulated guests, in place of a command: `TIME@PROCESSORS`,…")
	flags.BoolVar(&f.hold, "hold", false, "do not start before vjob release")
	flags.IntVar(&f.priority, "priority", 0, "larger goes first")
	flags.BoolVar(&f.spread, "spread", false, "no two VMs on one node")
	flags.BoolVar(&f.gather, "gather", false, "all VMs on one node")
	cli.WordsVar(flags, &f.ban, "ban", nil, "no VM on these `NODES`: n1,n2")
	cli.WordsVar(flags, &f.fence, "fence", nil, "VMs only on these `NODES`: n1,n2")
	flags.StringArrayVar(&f.rule, "rule", nil, "`RULE` about the VMs, such as 'soft(60) gather($VMS)'; may be repeated (docs/reference/rules.md)")
	flags.StringVar(&f.ruleFile, "rules", "", "`FILE` with rules about the VMs")
	f.terms.register(flags)
	f.array.register(flags)
	flags.StringVar(&f.key, "idempotency-key", "", "`KEY` that makes repeating this submission safe")
	flags.StringVar(&f.wait, "wait", "", "`UNTIL` the vjob, or all of the array, has started, with --wait=start, or ended; fails if it does")
	flags.Lookup("wait").NoOptDefVal = waitEnd
	flags.DurationVar(&f.timeout, "timeout", 0, "with --wait: the longest to wait, such as 10m")
	return cmd, f
}

// synonyms are other names of flags, as users of other systems type them.
func synonyms(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "count":
		name = "vms"
	case "cpus":
		name = "cpu"
	case "memory":
		name = "mem"
	case "time":
		name = "walltime"
	case "job-name":
		name = "name"
	}
	return pflag.NormalizedName(name)
}

func submit(a *cli.App, cmd *cobra.Command, f *submission, args []string) error {
	s, err := f.read(a, cmd, args)
	if err != nil {
		return err
	}
	if err := checkWait(f.wait); err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	job, created, err := c.Submit(cmd.Context(), s, f.key)
	if f.withoutFiles(a, &s, err) {
		job, created, err = c.Submit(cmd.Context(), s, f.key)
	}
	if err != nil {
		return err
	}
	if a.Structured() && f.wait == "" {
		return a.Print(job)
	}
	if !a.Structured() {
		if _, err := fmt.Fprintln(a.Out, job.ID); err != nil {
			return err // the vjob is accepted all the same
		}
	}
	if !created {
		_, _ = fmt.Fprintf(a.Err, "vjob: the key was used before: this is the vjob of that time\n")
	}
	for _, note := range job.Notes {
		_, _ = fmt.Fprintf(a.Err, "vjob: %s\n", note)
	}
	tellFiles(a, job.OutputFiles)
	if job.Late != "" {
		_, _ = fmt.Fprintf(a.Err, "vjob: vjob %d is accepted, but %s\n", job.ID, job.Late)
	}
	if f.wait == "" {
		return nil
	}
	w := wait{a: a, client: c, until: f.wait, timeout: f.timeout}
	if job.Array != 0 {
		return w.all(cmd.Context(), []cli.Named{{ID: job.Array, Array: true}})
	}
	return w.all(cmd.Context(), []cli.Named{{ID: job.ID}})
}

// read reads the vjob from the file and the flags.
func (f *submission) read(a *cli.App, cmd *cobra.Command, args []string) (wire.Submission, error) {
	s, err := f.described(a, cmd, args)
	if err != nil {
		return s, err
	}
	if err := shapesOf(f.shapes, &s); err != nil {
		return s, err
	}
	if err := f.terms.override(cmd, &s.Terms, a.Now()); err != nil {
		return s, f.job.Locate(err)
	}
	if s.Container && cmd.ArgsLenAtDash() >= 0 {
		return s, cluster.Fault("--container", "excludes a command: only vjobs submitted with --inner run in a container")
	}
	return s, f.job.Locate(f.array.override(a, &s))
}

// described reads the VMs from the file or the flags.
func (f *submission) described(a *cli.App, cmd *cobra.Command, args []string) (wire.Submission, error) {
	dash := cmd.ArgsLenAtDash()
	command := []string(nil)
	if dash >= 0 {
		args, command = args[:dash], args[dash:]
	}
	switch {
	case len(args) > 1 && len(command) == 0:
		return wire.Submission{}, notAfterDash(args)
	case len(args) > 1:
		return wire.Submission{}, &cli.UsageError{Cmd: cmd, Err: fmt.Errorf("%d files given: want one", len(args))}
	case len(args) == 0 && len(command) == 0 && cmd.Flags().NFlag() == 0:
		return wire.Submission{}, &cli.UsageError{Cmd: cmd, Err: errors.New("nothing to submit: want a vjob file, flags that describe the VMs, or a command after --")}
	case len(args) == 0:
		return f.fromFlags(command)
	case len(command) > 0:
		return wire.Submission{}, &cli.UsageError{Cmd: cmd, Err: fmt.Errorf("a file and a command given: want one of them")}
	}
	data, err := a.ReadInput(args[0])
	if errors.Is(err, fs.ErrNotExist) {
		return wire.Submission{}, fmt.Errorf("%w; %w", err, notAfterDash(args))
	}
	if err != nil {
		return wire.Submission{}, err
	}
	if jobscript.Is(string(data)) {
		if err := f.readScript(a, cmd, args[0], string(data)); err != nil {
			return wire.Submission{}, err
		}
		s, err := f.fromFlags(nil)
		return s, f.job.Locate(err)
	}
	for _, name := range ofVMs {
		if cmd.Flags().Changed(name) {
			return wire.Submission{}, &cli.UsageError{Cmd: cmd, Err: fmt.Errorf("--%s: want it in the file, which describes the VMs", name)}
		}
	}
	s, err := vjobfile.Parse(args[0], data)
	if err != nil {
		return wire.Submission{}, err
	}
	return s, f.override(cmd, &s)
}

// notAfterDash says where a command stands, for words that are no file.
func notAfterDash(words []string) error {
	return &cli.ExitError{Code: cli.ExitInput, Text: "a command stands after --: vjob submit -- " + cluster.JoinWords(words)}
}

// override puts the flags that were given over what the file says.
func (f *submission) override(cmd *cobra.Command, s *wire.Submission) error {
	if cmd.Flags().Changed("name") {
		s.Name = f.name
	}
	if cmd.Flags().Changed("priority") {
		s.Priority = f.priority
	}
	if cmd.Flags().Changed("hold") {
		s.Hold = f.hold
	}
	if f.walltime != "" {
		d, err := cli.ParseWalltime("--walltime", f.walltime)
		if err != nil {
			return err
		}
		s.WalltimeSeconds = int64(d / time.Second)
	}
	more, err := f.rules()
	if more != "" && s.Rules != "" {
		s.Rules = placement.Script(s.Rules) // a list and a script do not go together
	}
	s.Rules += more
	return err
}

// fromFlags makes equal VMs.
func (f *submission) fromFlags(command []string) (s wire.Submission, err error) {
	s = wire.Submission{Name: f.name, Priority: f.priority, Hold: f.hold, Count: f.vms}
	if f.vms < 1 {
		return s, cluster.BadField("--vms", f.vms, "1 or more")
	}
	if s.Rules, err = f.rules(); err != nil {
		return s, err
	}
	vm := &wire.VMSpec{Image: f.image, Command: command}
	if vm.CPUMilli, err = cli.ParseCPU("--cpu", f.cpu); err != nil {
		return s, err
	}
	if vm.MemoryMiB, err = cli.ParseMemory("--mem", f.memory); err != nil {
		return s, err
	}
	if f.walltime != "" {
		d, err := cli.ParseWalltime("--walltime", f.walltime)
		if err != nil {
			return s, err
		}
		s.WalltimeSeconds = int64(d / time.Second)
	}
	if f.script != "" {
		if len(command) > 0 {
			return s, cluster.Fault("--script", "a script and a command given, want one of the two")
		}
		data, err := os.ReadFile(f.script)
		if err != nil {
			return s, cluster.BadField("--script", f.script, "a file that can be read: "+err.Error())
		}
		vm.Script = string(data)
	}
	if vm.Env, err = cli.ParseEnv(f.env); err != nil {
		return s, err
	}
	if f.steps != "" {
		if vm.Steps, err = cli.ParseSteps("--steps", f.steps); err != nil {
			return s, err
		}
	}
	if f.job == nil {
		s.Template = vm
		return s, nil
	}
	if f.script != "" {
		return s, cluster.Fault("--script", "two scripts given, want one of them")
	}
	vm.Script = f.job.Text
	if !f.job.First || f.vms == 1 {
		s.Template = vm
		return s, nil
	}
	others := *vm
	others.Script, others.Command = "", []string{"sleep", "infinity"}
	s.Count, s.LeaderEnds = 0, true
	s.VMs = append([]wire.VMSpec{*vm}, slices.Repeat([]wire.VMSpec{others}, f.vms-1)...)
	return s, nil
}

// readScript reads a job script. Its directives count where the command line has no such flag.
func (f *submission) readScript(a *cli.App, cmd *cobra.Command, name, text string) error {
	flags := cmd.Flags()
	given := map[string]bool{}
	flags.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	job, err := jobscript.Read(name, text, submitFlags{flags})
	if err != nil {
		return err
	}
	f.job = &job
	for _, d := range job.Directives {
		if given[d.Flag] {
			continue
		}
		if err := flags.Set(d.Flag, d.Value); err != nil {
			return fmt.Errorf("%s:%d: %w", name, d.Line, cluster.BadField("--"+d.Flag, d.Value, flags.Lookup(d.Flag).Usage))
		}
	}
	for _, warning := range job.Warnings {
		_, _ = fmt.Fprintf(a.Err, "vjob: warning: %s\n", display.Clean(warning))
	}
	return nil
}

// withoutFiles takes the output files out of a submission that was refused for them, if they come from directives of
// another system: users of it expect files, but a site need not keep them.
func (f *submission) withoutFiles(a *cli.App, s *wire.Submission, err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || f.job == nil || !f.job.First || refused.Field != "output" && refused.Field != "error" {
		return false
	}
	for _, d := range f.job.Directives {
		if d.Flag == "output" || d.Flag == "error" {
			_, _ = fmt.Fprintf(a.Err, "vjob: warning: %s:%d: %s\n", f.job.Name, d.Line, display.Clean(refused.Error()))
			s.Output, s.Error = "", ""
			return true
		}
	}
	return false
}

// submitFlags are the flags of `vjob submit` for directives.
type submitFlags struct{ *pflag.FlagSet }

// Lookup implements [jobscript.Flags].
func (s submitFlags) Lookup(word string) (name string, takesValue, known bool) {
	flag := (*pflag.Flag)(nil)
	if long, ok := strings.CutPrefix(word, "--"); ok && long != "" {
		flag = s.FlagSet.Lookup(long)
	} else if len(word) == 2 {
		flag = s.ShorthandLookup(word[1:])
	}
	if flag == nil || flag.Name == "help" {
		return "", false, false
	}
	return flag.Name, flag.NoOptDefVal == "", true
}

// rules are those that the flags say, as a script. What keeps VMs apart does so at
// every instant.
func (f *submission) rules() (text string, err error) {
	var b strings.Builder
	if f.spread {
		b.WriteString("continuous spread($VMS);\n")
	}
	if f.gather {
		b.WriteString("gather($VMS);\n")
	}
	if len(f.ban) > 0 {
		b.WriteString("continuous ban($VMS, " + placement.Set(f.ban) + ");\n")
	}
	if len(f.fence) > 0 {
		b.WriteString("continuous fence($VMS, " + placement.Set(f.fence) + ");\n")
	}
	for _, rule := range f.rule {
		b.WriteString(strings.TrimSuffix(strings.TrimSpace(rule), ";") + ";\n")
	}
	if f.ruleFile != "" {
		data, err := document.Read(f.ruleFile)
		if err != nil {
			return "", cluster.BadField("--rules", f.ruleFile, "a file that can be read: "+err.Error())
		}
		b.WriteString(placement.Script(string(data)))
	}
	return b.String(), nil
}
