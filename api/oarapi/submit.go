package oarapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/oar"
	"vjob/oar/admission"
)

// submitter answers requests that submit jobs, and applies the rules of admission to all submissions.
type submitter struct {
	*service
	site  *admission.Site
	turns submissionQueues
}

// submit answers POST /jobs.
func (s *submitter) submit(c *gin.Context, caller api.Subject) error {
	data, err := s.Body(c)
	if err != nil {
		return err
	}
	body, ignored, err := oar.ReadSubmission(data)
	if err != nil {
		return err
	}
	if body.Script != "" && body.Command == "" {
		body.Command = defaultScriptName
	}
	var answer oar.Accepted
	err = s.serialized(c.Request.Context(), caller, func(ctx context.Context) (err error) {
		answer, err = s.accept(ctx, caller, c.GetHeader(wire.KeyHeader), &body)
		return err
	})
	if err != nil {
		return err
	}
	for _, key := range ignored {
		answer.Warnings += "# Warning: " + key + " has no effect: there are no job keys.\n"
	}
	c.JSON(http.StatusOK, answer)
	return nil
}

// defaultScriptName is the name of a script without one.
const defaultScriptName = "./script"

// Admit applies the rules of admission to a vjob of the native API, then calls then, which checks and
// stores it: see [AdmitVJob].
func (d *Dialect) Admit(ctx context.Context, caller api.Subject, body *wire.Submission, then func(context.Context) error) error {
	s := d.submissions
	return s.serialized(ctx, caller, func(ctx context.Context) error {
		by, err := s.withCounts(ctx, caller, !body.Reservation.IsZero())
		if err != nil {
			return err
		}
		if err := AdmitVJob(body, by, &d.Site, inventory(s.Snapshot())); err != nil {
			return err
		}
		return then(ctx)
	})
}

// accept submits a job or an array.
func (s *submitter) accept(ctx context.Context, caller api.Subject, key string, body *oar.Submission) (a oar.Accepted, err error) {
	if body.Resubmit != 0 {
		if err := s.resubmission(ctx, caller, body); err != nil {
			return a, err
		}
	}
	by, err := s.withCounts(ctx, caller, body.Reservation != "")
	if err != nil {
		return a, err
	}
	now, err := s.nowIn(body.TimeZone)
	if err != nil {
		return a, err
	}
	r, err := Translate(body, by, s.site, inventory(s.Snapshot()), now)
	var ids []int64
	if err == nil {
		ids, err = s.store(ctx, caller, key, &r)
	}
	if code, _ := oar.ExitOf(err); code == oar.ExitRefused {
		line, _, _ := strings.Cut(err.Error(), "\n")
		r.Output = append(r.Output, validating, line)
	}
	if err != nil {
		return a, &outputError{err, r.Output}
	}
	a = oar.Accepted{ID: ids[0], IDs: ids, Warnings: joinLines(r.Warnings), Timestamp: s.now(), Links: jobLinks(strconv.FormatInt(ids[0], 10))}
	for _, id := range ids {
		r.Output = append(r.Output, fmt.Sprintf("OAR_JOB_ID=%d", id))
	}
	if r.Array {
		a.ArrayID = ids[0]
		r.Output = append(r.Output, fmt.Sprintf("OAR_ARRAY_ID=%d", ids[0]))
	}
	if r.Reservation {
		r.Output = append(r.Output, validating, "# Reservation valid --> OK")
	}
	a.Output = joinLines(r.Output)
	return a, nil
}

// validating is the line that OAR prints before the result of a reservation.
const validating = "# Advance reservation request: waiting for validation..."

// store submits the job of a translation, or all jobs of its array.
func (s *submitter) store(ctx context.Context, caller api.Subject, key string, r *Translation) (ids []int64, err error) {
	first, err := s.place(ctx, caller, key, r)
	if errors.Is(err, cluster.ErrConflict) && r.VJob.Name != "" {
		r.VJob.Name = "" // names of OAR's jobs are not unique
		first, err = s.place(ctx, caller, key, r)
	}
	if err != nil {
		return nil, submissionError(r, err)
	}
	if r.Record.Command != "" && !r.Record.Interactive {
		for _, note := range s.Notes(first) {
			r.Warnings = append(r.Warnings, oar.PrintableLine("# Warning: "+note))
		}
	}
	for i := range max(r.VJob.Array, 1) {
		ids = append(ids, int64(first.ID)+int64(i))
	}
	return ids, nil
}

// place submits a vjob. A vjob that runs inside a container goes into the first that accepts it; the
// error is that of the last.
func (s *submitter) place(ctx context.Context, caller api.Subject, key string, r *Translation) (first *cluster.VJob, err error) {
	if len(r.Containers) == 0 {
		return s.Submit(ctx, caller, key, &r.VJob)
	}
	for _, id := range r.Containers {
		r.VJob.Inner = wire.VJobName(strconv.FormatInt(id, 10))
		if first, err = s.Submit(ctx, caller, key, &r.VJob); !errors.Is(err, cluster.ErrInvalid) {
			break
		}
	}
	return first, err
}

// submissionError converts an error of the scheduler, with OAR's line and exit code.
func submissionError(r *Translation, err error) error {
	var bad *cluster.FieldError
	switch {
	case !errors.Is(err, cluster.ErrInvalid):
		return err
	case errors.As(err, &bad) && r.Reservation && (bad.Field == "reservation" || bad.Field == "walltime_seconds"):
		why := "This reservation cannot run"
		if _, start, ok := strings.Cut(bad.Text, "the earliest start is "); ok && !strings.HasPrefix(start, "beyond") {
			why = "This reservation could run at " + start
		}
		return RefusedReservation(why, bad.Error())
	case errors.As(err, &bad) && bad.Field == "inner":
		return &oar.Error{Exit: oar.ExitAdmission, OAR: fmt.Sprintf("[ADMISSION RULE] Error: job type cannot be used: inner=%s", r.VJob.Inner), Text: bad.Error()}
	case errors.As(err, &bad) && (bad.Field == "project" || bad.Field == "queue"):
		return &oar.Error{Exit: oar.ExitAdmission, OAR: "# Error: " + bad.Error(), Text: "nothing was submitted"}
	}
	if errors.As(err, &bad) && strings.HasSuffix(bad.Field, ".script") && strings.HasPrefix(bad.Want, "at most ") {
		return &oar.Error{
			Exit: oar.ExitScript, OAR: "# Error: the command or the script is too long.",
			Text: fmt.Sprintf("with what goes before it, such as OAR's variables, it has %v bytes; want at most %s", bad.Value, strings.TrimPrefix(bad.Want, "at most ")),
		}
	}
	line := oar.NotEnoughResources
	if errors.As(err, &bad) && !resourceField.MatchString(bad.Field) {
		line = "# Error: the job cannot be taken as it is."
	}
	return &oar.Error{Exit: oar.ExitResources, OAR: line, Text: err.Error()}
}

// resourceField matches the fields of a vjob about sizes and nodes.
var resourceField = regexp.MustCompile(`^(shapes\[\d+\]\.)?(vms|vms\[\d+\]\.(cpu_milli|memory_mib)|rules)$`)

// withCounts returns the caller with the counts that rules use.
func (s *submitter) withCounts(ctx context.Context, caller api.Subject, reserves bool) (Caller, error) {
	by := Caller{Name: caller.Name, Containers: func() ([]Container, error) { return s.containers(ctx, caller) }}
	by.OutputFolder, by.NoOutput = s.OutputFolder(ctx, caller)
	groups, known, err := s.Groups(ctx, caller)
	if err != nil {
		return by, err
	}
	by.Groups, by.GroupsUnknown = groups, !known
	reservations, jobs := s.site.Policy.Counts()
	reservations = reservations && reserves
	if !reservations && !jobs {
		return by, nil
	}
	rows, err := s.List(ctx, caller, journal.Filter{Owner: caller.Name, Live: true, Terms: reservations})
	if err != nil {
		return by, err
	}
	by.ActiveJobs = len(rows)
	for i := range rows {
		if !rows[i].Reservation.IsZero() && rows[i].State == cluster.Waiting {
			by.WaitingReservations++
		}
	}
	return by, nil
}

// containers returns the caller's live containers, with their names in OAR.
func (s *submitter) containers(ctx context.Context, caller api.Subject) (list []Container, err error) {
	rows, err := s.List(ctx, caller, journal.Filter{Owner: caller.Name, Live: true, Terms: true})
	for i := range rows {
		if !rows[i].Container {
			continue
		}
		c := Container{ID: int64(rows[i].ID)}
		r, _ := oar.RecordOf(rows[i].Labels)
		for _, text := range r.Types {
			if t := oar.SplitJobType(text); t.Name == "container" {
				c.Name = t.Value
			}
		}
		list = append(list, c)
	}
	return list, err
}

// nowIn returns the time in a zone.
func (s *submitter) nowIn(zone string) (time.Time, error) {
	if zone == "" {
		return s.Now().In(time.Local), nil
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, cluster.BadField("timezone", zone, "the name of a time zone, such as Europe/Paris")
	}
	return s.Now().In(place), nil
}

// resubmission fills a submission from an ended job.
func (s *submitter) resubmission(ctx context.Context, caller api.Subject, body *oar.Submission) error {
	kept, err := s.Find(ctx, caller, cluster.VJobID(body.Resubmit), api.Change)
	if err != nil {
		return &oar.Error{Exit: exitResubmit, OAR: "# Error: unknown error (0).", Text: fmt.Sprintf("there is no job %d of yours", body.Resubmit)}
	}
	if !kept.State.Terminal() {
		return &oar.Error{
			Exit: exitResubmit, OAR: "# Error: the job must be in Error or Terminated state.",
			Text: fmt.Sprintf("job %d is %s", body.Resubmit, s.stateOf(&kept)),
		}
	}
	return Resubmit(kept.VJob, body)
}

// serialized runs the work of a submission: count the user's jobs, apply the rules, store. If a rule
// depends on the count, submissions of a user run one after another. Each completes even if its client
// disconnects, so that the next one sees a definite count.
func (s *submitter) serialized(ctx context.Context, caller api.Subject, work func(context.Context) error) error {
	if reservations, jobs := s.site.Policy.Counts(); !reservations && !jobs {
		return work(ctx)
	}
	end, err := s.turns.take(ctx, caller.Name)
	if err != nil {
		return err
	}
	defer end()
	return work(context.WithoutCancel(ctx))
}

func (s *submitter) resubmit(c *gin.Context, caller api.Subject) error {
	id, err := cluster.ParseVJobID(c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := s.Find(c.Request.Context(), caller, id, api.Change); err != nil {
		return err
	}
	answer, err := s.accept(c.Request.Context(), caller, c.GetHeader("Idempotency-Key"), &oar.Submission{Resubmit: oar.Number(id)})
	if err == nil {
		c.JSON(http.StatusOK, answer)
	}
	return err
}
