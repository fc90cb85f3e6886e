package oarapi

import (
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/oar"
)

// Types of jobs that vjobs support.
const (
	typeBesteffort = "besteffort"
	typeIdempotent = "idempotent"
	typeContainer  = "container"
	typeInner      = "inner"
	typeDeadline   = "deadline"
	typePostpone   = "postpone"
	typeExpire     = "expire"

	typeTimesharing = "timesharing"
)

// applyType translates a type. A type without effect on VMs gets a warning; a type that vjob cannot
// honour is refused.
func (m *translator) applyType(text string) error {
	t, terms := oar.SplitJobType(text), &m.VJob.Terms
	switch t.Name {
	case typeBesteffort:
		terms.BestEffort = true
	case typeIdempotent:
		terms.Idempotent = true
	case typeContainer:
		terms.Container = true
	case typeTimesharing:
		if oar.Sharers([]string{text}) == 1 {
			m.warn("type " + text + " shares nothing here: its processors are its own, since none can be shared with chosen jobs only. Share with all by timesharing=*,*, or run jobs inside a container: -t container, -t inner=ID.")
		}
	case typeInner:
		return m.findContainers(text, t.Value)
	case typeDeadline, typePostpone, typeExpire:
		return m.applyDatedType(text, t)
	case "desktop_computing":
		return unusableType(text, "this is not offered: VMs run on the nodes of the cluster")
	}
	if instead, known := ineffectiveTypes[t.Name]; known {
		m.warn("type " + text + " has no effect here: " + instead)
	}
	return nil
}

// ineffectiveTypes are recorded but have no effect here. The text names the alternative.
var ineffectiveTypes = map[string]string{
	"cosystem":    "the command runs in the first VM, as that of any job.",
	"token":       "tokens are not counted; quotas of users, projects and queues are.",
	"state":       "a job starts on nodes that are up.",
	"placeholder": "what it holds it holds against all.",
	"allowed":     "what a placeholder holds it holds against all.",
}

// applyDatedType translates a type with a date. OAR starts no job that would end after its deadline.
func (m *translator) applyDatedType(text string, t oar.JobType) error {
	terms := &m.VJob.Terms
	at, warning, err := oar.ParseTime(t.Value, m.now.Location())
	if err != nil {
		return unusableType(text, err.Error())
	}
	if warning != "" {
		m.warn(warning)
	}
	at = at.UTC()
	switch t.Name {
	case typePostpone:
		if at.After(terms.NotBefore) {
			terms.NotBefore = at
		}
	case typeExpire:
		m.startBy(at)
	case typeDeadline:
		if terms.Deadline.IsZero() || at.Before(terms.Deadline) {
			terms.Deadline = at
		}
		m.startBy(at.Add(-m.shortestWalltime()))
	}
	return nil
}

// startBy limits the start of the job. A reservation starts at its own time.
func (m *translator) startBy(at time.Time) {
	if now := m.VJob.NotAfter; !m.Reservation && (now.IsZero() || at.Before(now)) {
		m.VJob.NotAfter = at
	}
}

// shortestWalltime returns the shortest walltime of all shapes.
func (m *translator) shortestWalltime() time.Duration {
	least := m.VJob.WalltimeSeconds
	for i := range m.VJob.Shapes {
		least = min(least, m.VJob.Shapes[i].WalltimeSeconds)
	}
	return time.Duration(least) * time.Second
}

// findContainers finds containers by number or name.
func (m *translator) findContainers(text, called string) (err error) {
	if id, err := strconv.ParseInt(called, 10, 64); err == nil && id > 0 {
		m.Containers = []int64{id}
	} else if m.Containers, err = m.containersNamed(text, called); err != nil {
		return err
	}
	m.VJob.Inner = wire.VJobName(strconv.FormatInt(m.Containers[0], 10))
	return nil
}

// containersNamed returns the containers with a name, at least one.
func (m *translator) containersNamed(text, called string) (ids []int64, err error) {
	all, err := m.caller.Containers()
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
		return nil, unusableType(text, "you have no container: submit one with -t container, or -t container="+called)
	}
	return nil, unusableType(text, "no container of yours has this name; you have "+strings.Join(others, ", "))
}

func unusableType(text, why string) error {
	return &oar.Error{
		Exit: oar.ExitAdmission, OAR: "[ADMISSION RULE] Error: job type cannot be used: " + text,
		Position: oar.Source{Name: "-t", Text: text}.At(oar.Span{Off: 0, End: len(text)}), Text: why,
	}
}
