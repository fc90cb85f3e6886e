package api

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/internal/strictjson"
	"vjob/notify"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Admission has a submission follow rules, which may change or refuse it, and hands it to
// then, which checks and stores it.
type Admission func(ctx context.Context, caller Subject, body *wire.Submission, then func(context.Context) error) error

// submitService is the part of the scheduler that accepts submissions.
type submitService interface {
	// Submit accepts a vjob; it is durable on return. created is false when the
	// owner used the key before: the vjob is then the one of that time.
	Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error)
}

// Adviser says what will become of a vjob that was just submitted, where users may expect something else.
type Adviser interface {
	Notes(job *cluster.VJob) []string
}

// submitter checks submissions and hands them to the scheduler.
type submitter struct {
	scheduler     submitService
	images        *imageHandler
	finder        vjobFinder
	admission     Admission // nil: no rules
	adviser       Adviser   // nil: no notes
	rights        Rights
	notifiable    func(notify.Address) error // nil: any address is
	outputs       Outputs                    // nil: no output files
	vms           int                        // in one vjob, at most
	vjobsPerArray int                        // at most
	decoder       *strictjson.Decoder        // of bodies that have a submission
	metrics       *metrics
	snapshot      func() *scheduler.Snapshot
	now           func() time.Time
}

// newSubmissionDecoder returns the decoder of bodies that have a submission.
func newSubmissionDecoder(l *Limits) *strictjson.Decoder {
	return newDecoder(strictjson.Bounds{Entries: maxSteps, Of: map[string]int{"vms": l.VMsPerVJob, "parameters": l.VJobsPerArray, "command": maxWords, "env": maxEnv}})
}

// accept reads, checks and submits the body of a request.
func (s *submitter) accept(c *gin.Context, caller Subject) (*cluster.VJob, bool, error) {
	if err := authorise(caller, Create, Object{Kind: KindVJob, Owner: caller.Name}); err != nil {
		return nil, false, err
	}
	key := c.GetHeader(wire.KeyHeader)
	if err := checkKey(key); err != nil {
		return nil, false, err
	}
	var body wire.Submission
	if err := readBodyBy(s.decoder, c, &body); err != nil {
		return nil, false, err
	}
	lacks := s.rights.missing(caller)
	if s.admission == nil {
		return s.submit(c.Request.Context(), caller, key, &body, lacks)
	}
	var job *cluster.VJob
	var created bool
	err := s.admission(c.Request.Context(), caller, &body, func(ctx context.Context) (err error) {
		job, created, err = s.submit(ctx, caller, key, &body, lacks)
		return err
	})
	return job, created, err
}

// submit checks a submission and hands it to the loop.
func (s *submitter) submit(ctx context.Context, caller Subject, key string, body *wire.Submission, lacks admission.Rights) (*cluster.VJob, bool, error) {
	sub, err := Submission(body, s.vms)
	array, wrong := parameters(body, s.vjobsPerArray)
	if err := cluster.AllFaults(err, wrong); err != nil {
		return nil, false, err
	}
	err = cluster.AllFaults(s.images.check(ctx, caller, sub.VMs), s.checkNotifiable(sub.Notify), s.checkOutputs(ctx, caller.Name, &sub.Terms), s.finder.resolve(ctx, caller, sub.After), s.finder.enter(ctx, caller, body.Inner, &sub.Terms))
	if err != nil {
		return nil, false, err
	}
	sub.Array = array
	sub.Key, sub.Owner, sub.Origin, sub.At, sub.Lacks = key, caller.Name, caller.Origin(), s.now().UTC(), lacks
	job, created, err := s.scheduler.Submit(ctx, sub)
	if err != nil {
		return nil, false, asSubmitted(body, redactError(err, caller.Viewer(), s.snapshot()))
	}
	return job, created, nil
}

// hypothetical checks a submission of which only the outcome is asked for.
func (s *submitter) hypothetical(ctx context.Context, caller Subject, body *wire.Submission) (*admission.Submission, error) {
	sub, err := Submission(body, s.vms)
	if body.Array != 0 || len(body.Parameters) > 0 {
		err = cluster.AllFaults(err, cluster.Fault("array", "a what-if takes one vjob, not an array"))
	}
	if err == nil {
		err = cluster.AllFaults(s.finder.resolve(ctx, caller, sub.After), s.finder.enter(ctx, caller, body.Inner, &sub.Terms))
	}
	if err != nil {
		return nil, err
	}
	sub.Owner, sub.At, sub.Lacks = caller.Name, s.now().UTC(), s.rights.missing(caller)
	return &sub, nil
}

// notes returns what the owner of a vjob that was just submitted should know.
func (s *submitter) notes(job *cluster.VJob) []string {
	if s.adviser == nil {
		return nil
	}
	return s.adviser.Notes(job)
}

// checkNotifiable refuses addresses that this site does not notify.
func (s *submitter) checkNotifiable(list []string) error {
	if s.notifiable == nil {
		return nil
	}
	var faults cluster.Faults
	for i, text := range list {
		a, err := notify.ParseAddress(text)
		if err == nil {
			err = s.notifiable(a)
		}
		faults.Add(cluster.Renamed(fmt.Sprintf("notify[%d]", i), err))
	}
	return faults.Err()
}

var memberPath = regexp.MustCompile(`^vms\[\d+\]`)

// asSubmitted makes an error of the loop name the field that the user wrote: the
// loop knows members only, not the template that they were made from.
func asSubmitted(w *wire.Submission, err error) error {
	if w.Template == nil {
		return err
	}
	return cluster.EachFault(err, func(bad *cluster.FieldError) error {
		return cluster.Renamed(memberPath.ReplaceAllLiteralString(bad.Field, "template"), bad)
	})
}
