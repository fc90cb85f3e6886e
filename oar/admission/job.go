package admission

import (
	"slices"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
)

// Job is what is submitted, as far as rules look at it.
type Job struct {
	User   string
	Groups []string // of the user
	// GroupsUnknown: the groups of the user are unknown, and rules about them refuse.
	GroupsUnknown bool
	Queue         string
	Project       string
	Types         []string
	// Properties are those of -p and of rules; nodes must have all of them.
	Properties  []property.Filter
	Request     *request.Request
	Interactive bool
	Reservation bool
	Array       int         // sub-jobs; 0 and 1 are a single job
	Memory      cluster.MiB // of each VM; 0: not said
	Image       string      // of each VM; "": not said
	// What the user has already.
	WaitingReservations int
	ActiveJobs          int
}

// Property is all properties in one text, as oarstat shows it.
func (j *Job) Property() (text string) {
	for _, f := range j.Properties {
		switch {
		case f.Expr == nil:
		case text == "":
			text = f.Text
		default:
			text = "(" + text + ") AND " + f.Text
		}
	}
	return text
}

// clone is a copy that can be changed.
func (j Job) clone() Job {
	j.Types = slices.Clone(j.Types)
	j.Properties = slices.Clone(j.Properties)
	if j.Request != nil {
		r := *j.Request
		r.Alternatives = slices.Clone(r.Alternatives)
		j.Request = &r
	}
	return j
}

func (j *Job) kind() string {
	switch {
	case j.Reservation:
		return Reservation
	case j.Interactive:
		return Interactive
	default:
		return Batch
	}
}

// typed finds a type by its name.
func (j *Job) typed(name string) bool {
	return oar.HasJobType(j.Types, name)
}

// asks reports whether a level of a name is asked for.
func (j *Job) asks(name string) bool {
	return slices.ContainsFunc(j.Request.Alternatives, func(a request.Alternative) bool {
		return slices.ContainsFunc(a.Groups, func(g request.Group) bool {
			return slices.ContainsFunc(g.Levels, func(l request.Level) bool { return l.Name == name })
		})
	})
}
