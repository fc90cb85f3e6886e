package submission

import (
	"strconv"
	"strings"
	"time"

	"vjob/oar/date"
	"vjob/oar/jobtype"
	"vjob/oar/message"
)

// Types of jobs that mean something for a vjob.
const (
	besteffort = "besteffort"
	idempotent = "idempotent"
	container  = "container"
	inner      = "inner"
	deadline   = "deadline"
	postpone   = "postpone"
	expire     = "expire"
)

// typed makes terms of a type. Those that mean nothing for VMs are told; those whose
// meaning would be lost are refused.
func (m *maker) typed(text string) error {
	t, terms := jobtype.Split(text), &m.VJob.Terms
	switch t.Name {
	case besteffort:
		terms.BestEffort = true
	case idempotent:
		terms.Idempotent = true
	case container:
		terms.Container = true
	case inner:
		return m.inside(text, t.Value)
	case deadline, postpone, expire:
		return m.dated(text, t)
	case "desktop_computing":
		return untyped(text, "this is not offered: VMs run on the nodes of the cluster")
	}
	if instead, known := without[t.Name]; known {
		m.warn("type " + text + " has no effect here: " + instead)
	}
	return nil
}

// without are the types that are kept and mean nothing here, with what there is instead.
var without = map[string]string{
	"timesharing": "the processors of a VM are its own; vjob submit --cpu 0.5 asks for a part of one.",
	"cosystem":    "the command runs in the first VM, as that of any job.",
	"token":       "tokens are not counted; quotas of users, projects and queues are.",
	"state":       "a job starts on nodes that are up.",
	"placeholder": "what it holds it holds against all.",
	"allowed":     "what a placeholder holds it holds against all.",
}

// dated makes terms of a type with a date. OAR starts no job that would not end by its
// deadline.
func (m *maker) dated(text string, t jobtype.Type) error {
	terms := &m.VJob.Terms
	at, odd, err := date.Parse(t.Value, m.now.Location())
	if err != nil {
		return untyped(text, err.Error())
	}
	if odd != "" {
		m.warn(odd)
	}
	at = at.UTC()
	switch t.Name {
	case postpone:
		if terms.NotBefore == nil || at.After(*terms.NotBefore) {
			terms.NotBefore = &at
		}
	case expire:
		m.startBy(at)
	case deadline:
		if terms.Deadline == nil || at.Before(*terms.Deadline) {
			terms.Deadline = &at
		}
		m.startBy(at.Add(-m.shortest()))
	}
	return nil
}

// startBy has the job start by an instant, or never. A reservation starts at its time.
func (m *maker) startBy(at time.Time) {
	if now := m.VJob.NotAfter; !m.Reservation && (now == nil || at.Before(*now)) {
		m.VJob.NotAfter = &at
	}
}

// shortest is the least walltime that the job may have.
func (m *maker) shortest() time.Duration {
	least := m.VJob.WalltimeSeconds
	for i := range m.VJob.Shapes {
		least = min(least, m.VJob.Shapes[i].WalltimeSeconds)
	}
	return time.Duration(least) * time.Second
}

// inside finds the containers of a number, or of a name.
func (m *maker) inside(text, called string) (err error) {
	if id, err := strconv.ParseInt(called, 10, 64); err == nil && id > 0 {
		m.Inside = []int64{id}
	} else if m.Inside, err = m.named(text, called); err != nil {
		return err
	}
	m.VJob.Inner = m.Inside[0]
	return nil
}

// named are the containers of a name, one at least.
func (m *maker) named(text, called string) (ids []int64, err error) {
	all, err := m.by.Containers()
	if err != nil {
		return nil, err
	}
	var others []string
	for _, c := range all {
		switch c.Name {
		case called:
			ids = append(ids, c.ID)
		case "":
			others = append(others, strconv.FormatInt(c.ID, 10))
		default:
			others = append(others, c.Name)
		}
	}
	switch {
	case len(ids) > 0:
		return ids, nil
	case len(others) == 0:
		return nil, untyped(text, "you have no container: submit one with -t container, or -t container="+called)
	}
	return nil, untyped(text, "no container of yours has this name; you have "+strings.Join(others, ", "))
}

func untyped(text, why string) error {
	return &message.Error{
		Exit: message.ExitAdmission, OAR: "[ADMISSION RULE] Error: job type cannot be used: " + text,
		Place: message.Source{Name: "-t", Text: text}.At(message.Span{Off: 0, End: len(text)}), Text: why,
	}
}
