package workload

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
)

// maxArray is the maximum number of vjobs of an array.
const maxArray = 100_000

// termKeys are the keys of both forms for the owner and the terms of a vjob, see
// [cluster.Terms]. Instants are in seconds from the start of the workload. Keys name other
// vjobs by their ids.
type termKeys struct {
	Owner    string `json:"owner"`
	Project  string `json:"project"`
	Priority int    `json:"priority"`
	Rules    string `json:"rules"`

	Deadline   *float64 `json:"deadline"`
	Reserve    *float64 `json:"reserve"` // start of its reservation
	NotBefore  *float64 `json:"not_before"`
	NotAfter   *float64 `json:"not_after"`
	Floor      float64  `json:"floor"`
	BestEffort bool     `json:"best_effort"`
	Yields     string   `json:"yields"`
	MinRun     float64  `json:"min_run"`

	After      []string `json:"after"` // "a", "afterany:a", "after:sweep[3]"
	Unmet      string   `json:"unmet"`
	Array      int      `json:"array"`
	AtOnce     int      `json:"at_once"`
	Idempotent bool     `json:"idempotent"`
	Container  bool     `json:"container"`
	Inner      string   `json:"inner"`

	Notify []string          `json:"notify"`
	Labels map[string]string `json:"labels"`
}

// apply sets the terms of a job.
func (k *termKeys) apply(path string, j *Job) error {
	s := &j.Submission
	if k.Owner != "" {
		s.Owner = k.Owner
	}
	s.Project, s.Priority, s.Rules, s.MinShare, s.BestEffort = k.Project, k.Priority, k.Rules, k.Floor, k.BestEffort
	s.MaxConcurrent, s.Idempotent, s.Container, s.Notify, s.Labels = k.AtOnce, k.Idempotent, k.Container, k.Notify, k.Labels
	for _, step := range []func() error{
		func() error { return within(path+"floor", k.Floor, 0, 1) },
		func() error { return within(path+"at_once", float64(k.AtOnce), 0, maxArray) },
		func() (err error) { j.Deadline, err = instant(path+"deadline", k.Deadline, j.At); return err },
		func() (err error) { j.Reserve, err = instant(path+"reserve", k.Reserve, j.At); return err },
		func() (err error) { j.NotBefore, err = instant(path+"not_before", k.NotBefore, j.At); return err },
		func() (err error) { j.NotAfter, err = instant(path+"not_after", k.NotAfter, j.At); return err },
		func() (err error) { s.MinRun, err = seconds(path+"min_run", k.MinRun); return err },
		func() (err error) {
			s.Preemption, err = named(path+"yields", k.Yields, cluster.ParsePreemption)
			return err
		},
		func() (err error) { s.Unmet, err = named(path+"unmet", k.Unmet, cluster.ParseUnmet); return err },
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
	case k.AtOnce > 0 && k.Array == 0:
		return cluster.BadField(path+"at_once", k.AtOnce, "an array beside it")
	case k.BestEffort && j.Submission.Preemption == cluster.Never:
		return cluster.BadField(path+"yields", k.Yields, "suspend or end: a vjob that is best-effort makes room")
	case k.Reserve != nil && j.Submission.Walltime == 0:
		return cluster.BadField(path+"walltime", 0, "more than 0: it is the length of the reservation")
	}
	return nil
}

// named parses the name of a value; "" is the first value of its type.
func named[T any](field, name string, parse func(string) (T, error)) (value T, err error) {
	if name == "" {
		return value, nil
	}
	if value, err = parse(name); err != nil {
		return value, renamed(field, err)
	}
	return value, nil
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

// within returns an error unless a number is from least to most.
func within(field string, value, least, most float64) error {
	if !(value >= least && value <= most) {
		return cluster.BadField(field, value, fmt.Sprintf("from %v to %v", least, most))
	}
	return nil
}

// renamed returns the error with the name of the field in the file.
func renamed(field string, err error) error {
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
		return &cluster.FieldError{Field: field, Value: bad.Value, Want: bad.Want}
	}
	return err
}
