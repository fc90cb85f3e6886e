package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// largest is the largest number that is believed.
const largest = 1e15

// reader takes values apart. The first error stays; after it everything is empty.
type reader struct {
	*file
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// fields are those of an object, which has all that are needed and none that are not
// known.
func (r *reader) fields(v value, need, may []string) object {
	if v.Kind() != '{' {
		r.fail(r.wrong(v, "an object"))
		return nil
	}
	names, fields := v.members()
	for _, key := range names {
		if !slices.Contains(need, key) && !slices.Contains(may, key) {
			r.fail(r.fault(fields[key].from, v.path, fmt.Sprintf("the key %q is not one of %s", key, strings.Join(append(slices.Clone(need), may...), ", "))))
		}
	}
	for _, key := range need {
		if _, there := fields[key]; !there {
			r.fail(r.fault(v.from, v.path, fmt.Sprintf("%q is missing", key)))
		}
	}
	return fields
}

func (r *reader) list(v value, want string) []value {
	if v.Kind() != '[' {
		r.fail(r.wrong(v, want))
		return nil
	}
	return v.items()
}

func (r *reader) text(v value, want string) string {
	s := v.text()
	if s == "" {
		r.fail(r.wrong(v, want))
	}
	return s
}

// number is between two bounds, the lower one excluded if it must be more.
func (r *reader) number(v value, low, high float64, want string) float64 {
	if r.err != nil {
		return 0
	}
	x, err := strconv.ParseFloat(string(v.Value), 64)
	if v.Kind() != '0' || err != nil || math.IsNaN(x) || x < low || x > high {
		r.fail(r.wrong(v, want))
		return 0
	}
	return x
}

// amount is 0 or more.
func (r *reader) amount(v value, what string) float64 {
	return r.number(v, 0, largest, what+" from 0 to 1e15")
}

// positive is more than 0.
func (r *reader) positive(v value, what string) float64 {
	return r.number(v, math.SmallestNonzeroFloat64, largest, what+" above 0, up to 1e15")
}
