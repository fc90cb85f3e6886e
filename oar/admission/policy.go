package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/oar/request"
)

// Policy is a list of checked rules.
type Policy struct{ rules []compiled }

// compiled is a rule with its texts parsed.
type compiled struct {
	Rule
	over     time.Duration // of WalltimeOver, or request.NoWalltime
	walltime time.Duration // of Set.Walltime, or request.NoWalltime
	property property.Filter
	least    cluster.MiB // of MemoryOver, or 0
	memory   cluster.MiB // of Set.Memory, or 0
}

// mark begins each line of a rule, as in OAR.
const mark = "[ADMISSION RULE] "

// Admit applies the rules in order until one refuses. It returns the changed job and the lines for the
// user; the argument stays unchanged. The error is an [*oar.Error] with the exit code 254.
func (p *Policy) Admit(j Job) (Job, []string, error) {
	j = j.clone()
	var messages []string
	for i := range p.rules {
		r := &p.rules[i]
		because, holds := r.holds(&j)
		if !holds {
			continue
		}
		if j.GroupsUnknown && len(r.When.Groups)+len(r.When.NotGroups) > 0 {
			return j, messages, &oar.Error{Exit: oar.ExitAdmission, Text: mark + fmt.Sprintf(
				"a rule (%s) goes by groups, and those of %s are unknown; an administrator states them: vjob accounts change %s --groups LIST",
				r.Name, j.User, j.User)}
		}
		if r.Refuse != "" {
			return j, messages, &oar.Error{Exit: oar.ExitAdmission, Text: mark + r.fill(r.Refuse, &j, because)}
		}
		r.apply(&j)
		if r.Say != "" {
			messages = append(messages, mark+r.fill(r.Say, &j, because))
		}
	}
	return j, messages, nil
}

// reason is the part of a job that matched a rule.
type reason struct{ jobType, resource string }

// holds reports whether a job matches all conditions of a rule, and why.
func (r *compiled) holds(j *Job) (because reason, holds bool) {
	w := &r.When
	if !r.submitter(j) || !among(w.Kinds, j.kind()) || !above(w.ArrayOver, max(1, j.Array)) || !above(w.JobsOver, j.ActiveJobs+max(1, j.Array)) {
		return because, false
	}
	if w.ReservationsOver != nil && (!j.Reservation || !above(w.ReservationsOver, j.WaitingReservations+1)) {
		return because, false
	}
	if w.NoMemory && j.Memory > 0 || r.least > 0 && j.Memory <= r.least || w.NoImage && j.Image != "" {
		return because, false
	}
	if slices.ContainsFunc(w.NotTypes, j.typeNamed) || !slices.ContainsFunc(j.Request.Alternatives, r.matchesWalltime) {
		return because, false
	}
	var ok bool
	if because.resource, ok = first(w.Resources, j.requestsLevel); !ok {
		return because, false
	}
	if because.jobType, ok = first(w.Types, j.typeNamed); !ok {
		return because, false
	}
	if w.UnknownTypes != nil {
		i := slices.IndexFunc(j.Types, r.unknown)
		if i < 0 {
			return because, false
		}
		because.jobType = j.Types[i]
	}
	return because, true
}

// submitter checks user, groups, project and queue. Unknown groups match every condition.
func (r *compiled) submitter(j *Job) bool {
	w := &r.When
	in := func(list []string, unknown bool) bool {
		return j.GroupsUnknown && unknown || slices.ContainsFunc(list, func(g string) bool { return slices.Contains(j.Groups, g) })
	}
	return among(w.Users, j.User) && (len(w.Groups) == 0 || in(w.Groups, true)) && !in(w.NotGroups, false) &&
		among(w.Queues, j.Queue) && !slices.Contains(w.NotQueues, j.Queue) && among(w.Projects, j.Project)
}

// matchesWalltime reports whether the walltime of an alternative matches the conditions.
func (r *compiled) matchesWalltime(a request.Alternative) bool {
	return (!r.When.NoWalltime || a.Walltime == request.NoWalltime) && (r.over == request.NoWalltime || a.Walltime > r.over)
}

func (r *compiled) unknown(text string) bool {
	if slices.Contains(*r.When.UnknownTypes, oar.SplitJobType(text).Name) {
		return false
	}
	_, err := oar.ParseJobType(text)
	return err != nil
}

// apply changes a job as the rule says.
func (r *compiled) apply(j *Job) {
	if r.Set.Queue != "" {
		j.Queue = r.Set.Queue
	}
	if r.Set.Project != "" {
		j.Project = r.Set.Project
	}
	if r.memory > 0 {
		j.Memory = r.memory
	}
	if r.Set.Image != "" {
		j.Image = r.Set.Image
	}
	for _, t := range r.Set.Types {
		if !slices.Contains(j.Types, t) {
			j.Types = append(j.Types, t)
		}
	}
	if r.property.Expr != nil {
		j.Properties = append(j.Properties, r.property)
	}
	if r.walltime == request.NoWalltime {
		return
	}
	for i := range j.Request.Alternatives {
		if a := &j.Request.Alternatives[i]; r.matchesWalltime(*a) {
			a.Walltime = r.walltime
		}
	}
}

// placeholders are the placeholders of texts.
var placeholders = []string{"{user}", "{queue}", "{project}", "{type}", "{resource}"}

// fill replaces the placeholders.
func (r *compiled) fill(text string, j *Job, because reason) string {
	return oar.PrintableLine(strings.NewReplacer(
		"{user}", j.User, "{queue}", j.Queue, "{project}", j.Project, "{type}", because.jobType, "{resource}", because.resource,
	).Replace(text))
}

// among reports whether a value is in a list. An empty list contains all.
func among(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }

// above reports whether a number exceeds its limit, if any.
func above(limit *int, n int) bool { return limit == nil || n > *limit }

// first returns the first element that matches. An empty list matches.
func first(list []string, holds func(string) bool) (found string, ok bool) {
	i := slices.IndexFunc(list, holds)
	if i < 0 {
		return "", len(list) == 0
	}
	return list[i], true
}
