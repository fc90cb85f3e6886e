package plan

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/repack"
	"vjob/repack/format"
)

// checkFlags are the flags of `vjob check`.
type checkFlags struct {
	in, plan  string
	strict    bool
	maxErrors int
}

func checkCommand(a *cli.App) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check --in INSTANCE --plan PLAN",
		Short: "check a plan from any source",
		Long: `Follows a plan for an instance file and tells what is wrong with it: actions that cannot be
carried out or are too short, nodes over their capacity at some instant, states that are not
reached, rules that are broken. Then it prints the figures of the plan.

Exit codes: 0 the plan is right, 1 it is wrong, 2 a file or flag is wrong.`,
		Example: "  vjob check --in instance.json --plan plan.json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return check(a, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.in, "in", "", "the instance: a `FILE`, or - for the standard input")
	flags.StringVar(&f.plan, "plan", "", "the plan: a `FILE`, or - for the standard input")
	flags.BoolVar(&f.strict, "strict", false, "actions that last longer than they need are wrong")
	flags.IntVar(&f.maxErrors, "max-errors", 20, "print at most this `NUMBER` of what is wrong")
	return cmd
}

func check(a *cli.App, f *checkFlags) error {
	switch {
	case f.maxErrors < 0:
		return cluster.BadField("--max-errors", f.maxErrors, "a number from 0 on")
	case f.in == cli.Stdin && f.plan == cli.Stdin:
		return cluster.Fault("--plan", "the standard input has the instance, want a file")
	}
	in, err := readProblem(a, f.in)
	if err != nil {
		return err
	}
	var plan *format.PlanFile
	err = a.ReadFrom("--plan", f.plan, func(r io.Reader, name string) (err error) {
		plan, err = format.ReadPlan(r, name, in)
		return err
	})
	if err != nil {
		return err
	}
	c, err := judge(in, plan, f)
	if err != nil {
		return err
	}
	if err := showCheck(a, in, c); err != nil {
		return err
	}
	if !c.Valid {
		return &cli.ExitError{Code: cli.ExitInvalid}
	}
	return nil
}

// Checked is the JSON of `vjob check -o json`.
type Checked struct {
	Instance    string   `json:"instance"`
	Solver      string   `json:"solver"`
	Valid       bool     `json:"valid"`
	Errors      int      `json:"errors"`
	Messages    []string `json:"messages"` // at most --max-errors
	Broken      []string `json:"broken"`   // soft rules, at most --max-errors
	Penalty     int64    `json:"penalty"`
	Notes       []string `json:"notes"`
	Objective   int64    `json:"obj_vm"`
	All         int64    `json:"obj_all"`
	Makespan    int64    `json:"makespan"`
	Migrations  int      `json:"migrations"`
	Boots       int      `json:"boots"`
	Resumes     int      `json:"resumes"`
	Shutdowns   int      `json:"shutdowns"`
	Suspends    int      `json:"suspends"`
	NodeOff     int      `json:"node_off"`
	NodeOn      int      `json:"node_on"`
	Allocates   int      `json:"allocates"`
	Longer      int      `json:"longer_than_needed"`
	NodesUsed   int      `json:"nodes_used"`
	GrowthDelay int64    `json:"growth_delay"`

	figures repack.Figures
}

// judge checks the plan.
func judge(in *repack.Instance, plan *format.PlanFile, f *checkFlags) (*Checked, error) {
	amended, err := in.Amended()
	if err != nil { // no plan can be right
		return &Checked{
			Instance: in.Name, Solver: plan.Solver, Errors: 1, Messages: atMost([]string{err.Error()}, f.maxErrors), Broken: []string{}, Notes: []string{},
		}, nil
	}
	report, err := repack.Check(in, plan.Plan)
	if err != nil {
		return nil, fmt.Errorf("check the plan: %w", err)
	}
	longer := tooLong(amended, plan.Plan)
	faults := report.Faults
	if f.strict {
		faults = append(faults, longer...)
	}
	x := &report.Figures
	return &Checked{
		Instance: in.Name, Solver: plan.Solver, Valid: len(faults) == 0, Errors: len(faults),
		Messages: atMost(faults, f.maxErrors), Broken: atMost(report.Broken, f.maxErrors), Penalty: x.Penalty,
		Notes:     notes(in, plan, longer, f.strict),
		Objective: x.Objective, All: x.All, Makespan: int64(x.Makespan), Migrations: x.Migrations,
		Boots: x.Count[repack.Boot], Resumes: x.Count[repack.Resume], Shutdowns: x.Count[repack.Shutdown],
		Suspends: x.Count[repack.Suspend], NodeOff: x.Count[repack.NodeOff], NodeOn: x.Count[repack.NodeOn],
		Allocates: x.Count[repack.Allocate], Longer: len(longer), NodesUsed: x.NodesUsed, GrowthDelay: int64(x.GrowthDelay),
		figures: *x,
	}, nil
}

func atMost(list []string, n int) []string { return cli.NonNil(list[:min(n, len(list))]) }

// notes are what is not wrong, and should be known.
func notes(in *repack.Instance, plan *format.PlanFile, longer []string, strict bool) []string {
	list := []string{}
	if plan.Instance != "" && in.Name != "" && plan.Instance != in.Name {
		list = append(list, fmt.Sprintf("the plan says that it is for %s, and the instance is %s", plan.Instance, in.Name))
	}
	if over := in.Overloaded(); len(over) > 0 {
		list = append(list, fmt.Sprintf("%s over capacity before the plan begins, such as %s", cluster.Count(len(over), "node"), in.NodeName(over[0])))
	}
	if len(longer) > 0 && !strict {
		list = append(list, fmt.Sprintf("%s longer than needed, such as: %s", cluster.Count(len(longer), "action"), longer[0]))
	}
	return list
}

// tooLong tells the actions that last longer than they need.
func tooLong(in *repack.Instance, plan *repack.Plan) (list []string) {
	for i := range plan.Actions {
		a := &plan.Actions[i]
		needs, name := repack.Ticks(0), ""
		switch {
		case a.Kind == repack.Allocate:
			continue
		case a.Kind.OnNode() && a.To >= 0 && a.To < len(in.Nodes):
			needs, name = in.NodeOff, in.NodeName(a.To)
			if a.Kind == repack.NodeOn {
				needs = in.NodeOn
			}
		case !a.Kind.OnNode() && a.VM >= 0 && a.VM < len(in.VMs):
			needs, name = in.Lasts(a), in.VMName(a.VM)
		default:
			continue // of an unknown VM: the checker reports it
		}
		if last := a.End - a.Start; last > needs {
			list = append(list, fmt.Sprintf("%s: %s lasts %d, needs only %d", name, a.Kind, last, needs))
		}
	}
	return list
}

func showCheck(a *cli.App, in *repack.Instance, c *Checked) error {
	if a.Structured() {
		return a.Print(c)
	}
	var b summary
	for _, text := range c.Messages {
		b.line("wrong", text)
	}
	if more := c.Errors - len(c.Messages); more > 0 {
		b.line("", fmt.Sprintf("… and %d more; --max-errors %d shows all", more, c.Errors))
	}
	for _, text := range c.Broken {
		b.line("soft rule broken", text)
	}
	for _, text := range c.Notes {
		b.line("note", text)
	}
	verdict := display.Coloured(painted(a, display.Green), "VALID")
	if !c.Valid {
		verdict = display.Coloured(painted(a, display.Red), "INVALID") + fmt.Sprintf(" (%s)", cluster.Count(c.Errors, "error"))
	}
	b.WriteString(verdict + "\n")
	b.line("instance", described(in))
	b.figures(&c.figures)
	if c.Penalty > 0 {
		b.line("penalty", fmt.Sprint(c.Penalty))
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// painted is a colour where colours are wanted.
func painted(a *cli.App, colour string) string {
	if a.Colours() {
		return colour
	}
	return ""
}
