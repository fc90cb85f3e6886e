package cluster

import (
	"errors"
	"slices"
)

// MaxFaults is the most faults of one input in an error.
const MaxFaults = 16

// Faults collects the faults of an input in the order in which they are found: the first of each field, and the first
// [MaxFaults] of all. The zero value has none.
type Faults struct {
	found []*FieldError
	other error // no fault of the input
}

// Add adds the faults of some checks; nil errors are ignored.
func (f *Faults) Add(errs ...error) {
	for _, err := range errs {
		list := FieldErrors(err)
		if err != nil && len(list) == 0 && f.other == nil {
			f.other = err
		}
		for _, bad := range list {
			again := func(known *FieldError) bool { return known.Field == bad.Field }
			if len(f.found) < MaxFaults && !slices.ContainsFunc(f.found, again) {
				f.found = append(f.found, bad)
			}
		}
	}
}

// Err returns all faults as one error, or nil without any. An error that is no [FieldError] is returned alone.
func (f *Faults) Err() error {
	switch {
	case f.other != nil:
		return f.other
	case len(f.found) == 1:
		return f.found[0]
	}
	all := make([]error, len(f.found))
	for i, bad := range f.found {
		all[i] = bad
	}
	return errors.Join(all...)
}

// AllFaults returns the faults of several checks as one error, see [Faults].
func AllFaults(errs ...error) error {
	var f Faults
	f.Add(errs...)
	return f.Err()
}

// joined is an error that consists of others, see [errors.Join].
type joined interface {
	error
	Unwrap() []error
}

// FieldErrors returns the faults that an error consists of.
func FieldErrors(err error) []*FieldError {
	if parts, ok := errors.AsType[joined](err); ok {
		var list []*FieldError
		for _, one := range parts.Unwrap() {
			list = append(list, FieldErrors(one)...)
		}
		return list
	}
	if bad, ok := errors.AsType[*FieldError](err); ok {
		return []*FieldError{bad}
	}
	return nil
}

// EachFault returns an error with every fault replaced by what change makes of it. Other errors are returned unchanged.
func EachFault(err error, change func(*FieldError) error) error {
	list := FieldErrors(err)
	if len(list) == 0 {
		return err
	}
	var f Faults
	for _, bad := range list {
		f.Add(change(bad))
	}
	return f.Err()
}
