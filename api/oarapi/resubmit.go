package oarapi

import (
	"fmt"
	"strings"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/launch"
)

// Resubmit fills a submission from an ended job. Fields that are set stay.
func Resubmit(j *cluster.VJob, s *oar.Submission) error {
	r, ok := oar.RecordOf(j.Labels)
	if !ok {
		return &oar.Error{Exit: exitResubmit, OAR: "# Error: unknown error (0).", Text: fmt.Sprintf("job %s was not submitted by oarsub; only its owner knows how", j.ID)}
	}
	if r.Interactive || !j.Reservation.IsZero() {
		return &oar.Error{
			Exit: exitResubmit, OAR: "# Error: an interactive job or a reservation cannot be resubmitted.",
			Text: fmt.Sprintf("submit what job %s asked for anew", j.ID),
		}
	}
	if len(s.Resource) == 0 {
		s.Resource = strings.Split(r.Wanted, " | ")
	}
	if s.Command == "" {
		s.Command = r.Command
		if r.Script && len(j.VMs) > 0 {
			s.Script, _ = launch.ScriptOf(j.VMs[0].Work().Script)
		}
		if j.Parameter != "" {
			s.Command += " " + j.Parameter
		}
	}
	if len(s.Property) == 0 && r.Properties != "" {
		s.Property = oar.Words{r.Properties}
	}
	if len(s.Type) == 0 {
		s.Type = r.Types
	}
	for _, f := range []struct {
		at    *string
		value string
	}{{&s.Queue, r.Queue}, {&s.Name, r.Name}, {&s.Directory, r.Directory}, {&s.Stdout, r.Stdout}, {&s.Stderr, r.Stderr}, {&s.InitialRequest, r.InitialRequest}, {&s.Project, j.Project}} {
		if *f.at == "" {
			*f.at = f.value
		}
	}
	if s.Image == "" && len(j.VMs) > 0 {
		s.Image = j.VMs[0].Work().Image
	}
	return nil
}
