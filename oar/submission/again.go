package submission

import (
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar/job"
	"vjob/oar/message"
	"vjob/oar/rest"
)

// Again fills a submission in from a job that has ended; what the submission says
// itself has the say.
func Again(j *cluster.VJob, s *rest.Submission) error {
	r, ok := job.RecordOf(j.Labels)
	if !ok {
		return &message.Error{Exit: 4, OAR: "# Error: unknown error (0).", Text: fmt.Sprintf("job %s was not submitted by oarsub; only its owner knows how", j.ID)}
	}
	if len(s.Resource) == 0 {
		s.Resource = strings.Split(r.Wanted, " | ")
	}
	if s.Command == "" {
		s.Command = r.Command
		if r.Script && len(j.VMs) > 0 {
			s.Script = j.VMs[0].Payload.Script
		}
		if j.Parameter != "" {
			s.Command += " " + j.Parameter
		}
	}
	if len(s.Property) == 0 && r.Properties != "" {
		s.Property = rest.Words{r.Properties}
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
		s.Image = j.VMs[0].Payload.Image
	}
	return nil
}

// Of is the vjob of a sub-job with these parameters, which stand behind its command.
func (r *Result) Of(parameter string) wire.Submission {
	vjob := r.VJob
	if parameter == "" {
		return vjob
	}
	record := r.Record
	record.Command += " " + parameter
	vjob.Labels = record.Labels()
	vjob.VMs = with(vjob.VMs, parameter)
	vjob.Shapes = nil
	for _, s := range r.VJob.Shapes {
		s.VMs = with(s.VMs, parameter)
		vjob.Shapes = append(vjob.Shapes, s)
	}
	return vjob
}

// with are VMs whose commands have a parameter more.
func with(vms []wire.VMSpec, parameter string) []wire.VMSpec {
	list := make([]wire.VMSpec, len(vms))
	for i, v := range vms {
		if n := len(v.Command); n > 0 {
			v.Command = append([]string{}, v.Command...)
			v.Command[n-1] += " " + parameter
		}
		if v.Script != "" {
			first, others, _ := strings.Cut(v.Script, "\n")
			v.Script = first + "\nset -- \"$@\" " + parameter + "\n" + others
		}
		list[i] = v
	}
	return list
}
