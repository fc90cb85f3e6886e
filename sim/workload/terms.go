package workload

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/scheduler/admission"
)

// maxArray is the maximum number of vjobs of an array.
const maxArray = 100_000

// termKeys are the keys of both forms for the owner and the terms of a vjob. Instants are in seconds
// from the start of the workload, and other vjobs are named by their ids: these keys replace those of
// [cluster.Terms].
type termKeys struct {
	Owner    string `json:"owner"`
	Priority int    `json:"priority"`
	Rules    string `json:"rules"`
	Array    int    `json:"array"`
	cluster.Terms

	Deadline    *float64 `json:"deadline"`
	Reserve     *float64 `json:"reserve"` // start of its reservation
	NotBefore   *float64 `json:"not_before"`
	NotAfter    *float64 `json:"not_after"`
	ShortMinRun float64  `json:"min_run"`
	After       []string `json:"after"` // "a", "afterany:a", "after:sweep[3]"
	Inner       string   `json:"inner"`
}

// apply sets the terms of a job.
func (k *termKeys) apply(path string, j *Job) error {
	s := &j.Submission
	if k.Owner != "" {
		s.Owner = k.Owner
	}
	k.Queue, k.Shapes = s.Queue, s.Shapes // read before, since the forms differ
	s.Priority, s.Rules, s.Terms = k.Priority, k.Rules, k.Terms
	for _, step := range []func() error{
		func() (err error) { j.Deadline, err = instant(path+"deadline", k.Deadline, j.At); return err },
		func() (err error) { j.Reserve, err = instant(path+"reserve", k.Reserve, j.At); return err },
		func() (err error) { j.NotBefore, err = instant(path+"not_before", k.NotBefore, j.At); return err },
		func() (err error) { j.NotAfter, err = instant(path+"not_after", k.NotAfter, j.At); return err },
		func() error { return k.minRun(path+"min_run", s) },
		func() error { return k.check(path, j) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	j.waits, j.inner = k.After, k.Inner
	if k.Array > 0 {
		s.Array = make([]string, k.Array)
	}
	return nil
}

// check refuses conflicting terms; the scheduler checks the others.
func (k *termKeys) check(path string, j *Job) error {
	switch {
	case k.Array < 0 || k.Array > maxArray:
		return cluster.BadField(path+"array", k.Array, fmt.Sprintf("1 to %d vjobs, or 0 for a single vjob", maxArray))
	case k.MaxConcurrent > 0 && k.Array == 0:
		return cluster.Fault(path+"at_once", "%d requires an array", k.MaxConcurrent)
	case !k.Reservation.IsZero():
		return cluster.Fault(path+"reservation", "an instant in a workload is in seconds from its start; use reserve")
	case k.Reserve != nil && j.Submission.Walltime == 0:
		return cluster.BadField(path+"walltime", 0, "more than 0: it is the length of the reservation")
	}
	if bad, ok := errors.AsType[*cluster.FieldError](k.Check()); ok {
		return cluster.Renamed(path+bad.Field, bad)
	}
	return nil
}

// minRun reads the key that is in seconds as all times of the file.
func (k *termKeys) minRun(field string, s *admission.Submission) error {
	if k.ShortMinRun == 0 {
		return nil
	}
	d, err := seconds(field, k.ShortMinRun)
	s.MinRun = cluster.Seconds(d)
	return err
}

// instant converts seconds from the start of the workload, not before the submission. It
// returns nil for nil.
func instant(field string, at *float64, submit time.Duration) (*time.Duration, error) {
	if at == nil {
		return nil, nil //nolint:nilnil // optional
	}
	d, err := seconds(field, *at)
	if err == nil && d < submit {
		err = cluster.BadField(field, *at, fmt.Sprintf("seconds from the start of the workload, at least the %g of its submission", submit.Seconds()))
	}
	return &d, err
}
