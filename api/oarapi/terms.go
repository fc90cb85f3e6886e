package oarapi

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/notify"
	"vjob/oar"
)

// terms sets the terms of the vjob.
func (m *translator) terms() error {
	t := &m.VJob.Terms
	_, m.VJob.Hold = m.options.Value("hold")
	// Names in OAR are not restricted.
	if name := m.value("name"); cluster.IsName(name) && strings.Trim(name, "0123456789") != "" {
		m.VJob.Name = name
	}
	for _, q := range m.site.Queues {
		if q == m.job.Queue {
			t.Queue = q
		}
	}
	t.Project = m.job.Project
	if m.Reservation {
		start := m.reserved.Start
		if over := start.Add(time.Duration(m.VJob.WalltimeSeconds) * time.Second); over.Before(m.now) {
			return RefusedReservation("Reservation too old", "it would end before now, "+m.now.Format(time.DateTime))
		}
		if start.Before(m.now) {
			start = m.now
		}
		t.Reservation = start.UTC()
	}
	for _, text := range m.job.Types {
		if err := m.applyType(text); err != nil {
			return err
		}
	}
	for _, text := range m.options.Values(optionAnterior) {
		id, err := cluster.ParseVJobID(text)
		if err != nil {
			return &oar.Error{
				Exit: oar.ExitOption, OAR: fmt.Sprintf("Value %q invalid for option a (number expected)", text),
				Text: "want the number of a job; a delay after its start is not supported",
			}
		}
		t.After = append(t.After, cluster.Dependency{On: id, When: cluster.AfterAny})
	}
	if m.Record.Checkpoint != 0 || m.Record.Signal != 0 {
		m.warn("--checkpoint and --signal have no effect: a preempted job is suspended with its memory.")
	}
	if err := m.notify(); err != nil {
		return err
	}
	t.Labels = m.Record.Labels()
	return nil
}

// notify reads the address of notifications.
func (m *translator) notify() error {
	text := m.value("notify")
	if text == "" {
		return nil
	}
	to, err := notify.ParseAddress(text)
	if err == nil && to.Mail != "" && !m.site.Mails { // as in OAR, where nothing checks that mails can be sent
		m.warn("this site sends no mails.")
		return nil
	}
	switch {
	case execNotify.MatchString(text) && !safeExecNotify.MatchString(text):
		return &oar.Error{
			Exit: exitInsecure, OAR: "# Error: insecure characters found in notification method (the allowed regexp is: [a-zA-Z0-9_.\\/ -]+).",
			Text: "and exec: is not offered: no program of a user runs on the server; want mail:NAME@HOST, or a web address",
		}
	case execNotify.MatchString(text):
		return badNotify("exec: is not offered: no program of a user runs on the server; want mail:NAME@HOST, or a web address")
	case err != nil:
		return badNotify(err.Error())
	}
	m.VJob.Notify = []string{text}
	return nil
}

// execNotify matches OAR's notification by a program; safeExecNotify matches those without characters
// special to a shell.
var (
	execNotify     = regexp.MustCompile(`exec\s*:.`)
	safeExecNotify = regexp.MustCompile(`exec\s*:[a-zA-Z0-9_./ -]+$`)
)

func badNotify(why string) error {
	return &oar.Error{Exit: exitNotify, OAR: "# Error: bad syntax for the notify option", Text: why}
}
