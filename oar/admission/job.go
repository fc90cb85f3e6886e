package admission

import (
	"slices"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
)

// Job is the part of a submission that rules use.
type Job struct {
	User   string
	Groups []string // of the user
	// GroupsUnknown: the groups of the user are unknown; rules about groups apply.
	GroupsUnknown bool
	Queue         string
	Project       string
	Types         []string
	// Properties are the properties of -p and of rules. Nodes must match all.
	Properties  []property.Filter
	Request     *request.Request
	Interactive bool
	Reservation bool
	Array       int         // sub-jobs; a single job has 0 or 1
	Memory      cluster.MiB // of each VM; 0 if not given
	Image       string      // of each VM; "" if not given
	// What the user has already:
	WaitingReservations int
	ActiveJobs          int
}

// Property returns all properties in one text, as oarstat shows it.
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

// clone returns an independent copy.
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

// typeNamed returns the type with a name.
func (j *Job) typeNamed(name string) bool {
	return oar.HasJobType(j.Types, name)
}

// requestsLevel reports whether the job requests a level of a name.
func (j *Job) requestsLevel(name string) bool {
	return slices.ContainsFunc(j.Request.Alternatives, func(a request.Alternative) bool {
		return slices.ContainsFunc(a.Groups, func(g request.Group) bool {
			return slices.ContainsFunc(g.Levels, func(l request.Level) bool { return l.Name == name })
		})
	})
}
