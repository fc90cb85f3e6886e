package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"vjob/api/client"
	"vjob/oar/message"
	"vjob/oar/rest"
)

// tooLong tells which part of a submission is the longest if the daemon has refused it for
// its length; any other error it leaves as it is.
func tooLong(s *rest.Submission, err error) error {
	answer, ok := errors.AsType[*client.Error](err)
	if !ok || answer.Status != http.StatusRequestEntityTooLarge {
		return err
	}
	type part struct {
		exit      message.Exit
		oar, name string
		text      string
	}
	longest := part{message.ExitOption, "", "the command", s.Command}
	for _, p := range []part{
		{message.ExitScript, "[ERROR] Cannot open the parameter file " + s.ParamFileName + ".", s.ParamFileName, s.ParamFile},
		{message.ExitScript, "[ERROR] Cannot open the script " + s.Command + ".", s.Command, s.Script},
		{message.ExitRequest, "# Error: cannot recognize the resource description", "-l", strings.Join(s.Resource, "")},
		{message.ExitResources, message.Bad, "-p", strings.Join(s.Property, "")},
		{message.ExitAdmission, "[ADMISSION RULE] Error: unknown job type", "-t", strings.Join(s.Type, "")},
		{message.ExitOption, "", "the other options", s.Name + s.Project + s.Queue + s.Notify + s.Directory + s.Stdout + s.Stderr + s.Reservation},
	} {
		if len(p.text) > len(longest.text) {
			longest = p
		}
	}
	_, want, _ := strings.Cut(answer.Message, "want ")
	return &message.Error{
		Exit: longest.exit, OAR: longest.oar,
		Text: fmt.Sprintf("%s: %d bytes are too many: want %s, with all that belongs to the job (limits.submission_size of vjobd)", longest.name, len(longest.text), want),
	}
}
