package queue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
)

// PolicyKind is a policy that settings and commands can name.
type PolicyKind struct {
	Name        string
	Description string // which vjobs start and which are suspended, for the help of commands
	Parameters  []Parameter
	build       func(arguments) Policy
}

// kinds are all policies, by name. A new policy is a file and a line here.
var kinds = []PolicyKind{
	{"conservative", "in order; a vjob that delays no earlier one fills the gaps", nil, func(arguments) Policy { return Conservative{} }},
	{"dynamic-easy", "in order; each vjob that fits fills the gaps, until the first in line fits", dynamicEASYParameters, newDynamicEASY},
	{"easy", "in order; a vjob that does not delay the first in line fills the gaps", nil, func(arguments) Policy { return EASY{} }},
	{"fcfs", "strictly in order", nil, func(arguments) Policy { return FCFS{} }},
	{"firstfit", "in order of priority, each vjob that fits; running ones are suspended for earlier ones", firstFitParameters, newFirstFit},
	{"sjf", "the shortest walltime first, and before all a vjob that has waited for age_bound", sjfParameters, newSJF},
	{"timeslices", "slots of vjobs that fit together, in turn", timeSlicesParameters, newTimeSlices},
}

// PolicyKinds returns all policies, by name.
func PolicyKinds() []PolicyKind { return slices.Clone(kinds) }

// Names returns the names of all policies, in order.
func Names() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	return names
}

// Values are parameters by name, as they were written. Empty text and a duration of 0 stand
// for the default of the policy.
type Values map[string]string

// New returns the policy of that name with the values given. Values of parameters that the
// policy does not have are ignored. An error is a [cluster.FieldError] of the field policy,
// or of the parameter.
func New(name string, given Values) (Policy, error) { return build(name, given, false) }

// NewPublished is [New] with the defaults of the publications, for replays of workloads without
// the settings of a cluster.
func NewPublished(name string, given Values) (Policy, error) { return build(name, given, true) }

func build(name string, given Values, published bool) (Policy, error) {
	i := slices.IndexFunc(kinds, func(k PolicyKind) bool { return k.Name == name })
	if i < 0 {
		return nil, cluster.BadField("policy", name, "one of "+strings.Join(Names(), ", "))
	}
	args := arguments{}
	for k := range kinds[i].Parameters {
		p := &kinds[i].Parameters[k]
		value, err := p.value(given[p.Name], published)
		if err != nil {
			return nil, err
		}
		args[p.Name] = value
	}
	return kinds[i].build(args), nil
}

// arguments are the parsed parameters of a policy, by name.
type arguments map[string]any

func (a arguments) duration(name string) time.Duration { return a[name].(time.Duration) }
func (a arguments) number(name string) float64         { return a[name].(float64) }
func (a arguments) needs() Needs                       { return a[needsName].(Needs) }

// Parameter is a parameter of one or more policies.
type Parameter struct {
	Name      string // as in settings: "min_run"
	Default   string
	Published string // the default of [NewPublished]; empty: Default
	// Usage is the help of the command line flag; empty: it has none.
	Usage string
	// Lenient: settings may contain it although no queue has a policy with it.
	Lenient bool
	// Parse returns the value of a text: a time.Duration, a float64 or [Needs]. An error names
	// the parameter. Nil: the value is always the default, which is a duration.
	Parse func(text string) (any, error)
}

// Parameters returns the parameters of all policies, each once. A default that differs
// between policies is left out.
func Parameters() (list []Parameter) {
	for i := range kinds {
		for _, p := range kinds[i].Parameters {
			switch k := slices.IndexFunc(list, func(o Parameter) bool { return o.Name == p.Name }); {
			case p.Parse == nil:
			case k < 0:
				list = append(list, p)
			case list[k].Default != p.Default:
				list[k].Default = ""
			}
		}
	}
	return list
}

// With returns the parameter with another default.
func (p Parameter) With(value string) Parameter {
	p.Default = value
	return p
}

func (p *Parameter) value(given string, published bool) (any, error) {
	standard := p.Default
	if published && p.Published != "" {
		standard = p.Published
	}
	if p.Parse == nil {
		return cluster.ParseDuration(standard)
	}
	if given != "" {
		if v, err := p.Parse(given); err != nil || v != time.Duration(0) {
			return v, err
		}
	}
	return p.Parse(standard)
}

// upTo parses a duration of 0 to a limit.
func upTo(name string, most time.Duration) func(string) (any, error) {
	return func(text string) (any, error) {
		d, err := cluster.ParseDuration(text)
		if field := (*cluster.FieldError)(nil); errors.As(err, &field) {
			return nil, cluster.BadField(name, text, field.Want)
		}
		if d > most {
			return nil, cluster.BadField(name, d, fmt.Sprintf("between 0s and %s", most))
		}
		return d, nil
	}
}

// numberBetween parses a number in a range.
func numberBetween(name string, least, most float64) func(string) (any, error) {
	return func(text string) (any, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, cluster.BadField(name, text, "a number")
		}
		if !(f >= least && f <= most) {
			return nil, cluster.BadField(name, f, fmt.Sprintf("between %g and %g", least, most))
		}
		return f, nil
	}
}

const needsName = "needs"

// needsParameter is how VMs are counted, for policies that leave the choice.
func needsParameter(standard Needs) Parameter {
	return Parameter{
		Name: needsName, Default: standard.String(), Lenient: true,
		Parse: func(text string) (any, error) {
			for n := Reserved; n <= Assumed; n++ {
				if n.String() == text {
					return n, nil
				}
			}
			return nil, cluster.BadField(needsName, text, "one of assumed, observed, predicted, reserved")
		},
	}
}
