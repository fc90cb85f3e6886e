package swf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"vjob/cluster"
)

// Record is one line of a log. Missing values are negative, usually -1.
type Record struct {
	Line      int
	Number    int64
	Submit    int64 // seconds
	Run       int64 // seconds
	Allocated int64 // processors
	Requested int64 // processors
	Walltime  int64 // seconds
	Status    int64
	Others
}

// Others are the fields that make no difference on one pool of processors. Missing,
// invalid and too large values are -1.
type Others struct {
	MemoryKiB int32 // for each processor: requested (field 10), or without that used (7)
	User      int32
	Group     int32
	Queue     int32
	Preceding int32 // the number of the job after which its user submitted this one
	Think     int32 // seconds from the end of that job to the submission
}

// fields is the number of fields of a line.
const fields = 18

// partial reports whether the line is only a part of a job that was stopped and continued
// later.
func (r *Record) partial() bool { return 2 <= r.Status && r.Status <= 4 }

// largest is the largest number in a field: in seconds, over thirty thousand years.
const largest = 1e12

// parse parses the fields of a line that matter. It truncates fractions.
func parse(line int, text []byte) (Record, error) {
	r := Record{Line: line}
	wanted := [...]struct {
		field int
		name  string
		value *int64
	}{
		{1, "job number", &r.Number},
		{2, "submit time", &r.Submit},
		{4, "run time", &r.Run},
		{5, "allocated processors", &r.Allocated},
		{8, "requested processors", &r.Requested},
		{9, "requested time", &r.Walltime},
		{11, "status", &r.Status},
	}
	used, requested := int32(-1), int32(-1)
	r.Others = unknown
	others := [fields + 1]*int32{
		7: &used, 10: &requested, 12: &r.User, 13: &r.Group, 15: &r.Queue, 17: &r.Preceding, 18: &r.Think,
	}
	next, count := 0, 0
	for {
		text = bytes.TrimLeft(text, blanks)
		if len(text) == 0 {
			break
		}
		end := bytes.IndexAny(text, blanks)
		if end < 0 {
			end = len(text)
		}
		count++
		if next < len(wanted) && wanted[next].field == count {
			w := &wanted[next]
			v, ok := number(text[:end])
			if !ok {
				field := fmt.Sprintf("line %d: field %d, the %s", line, count, w.name)
				return r, cluster.BadField(field, string(text[:end]), "a number up to 10^12, or -1 if unknown")
			}
			*w.value = v
			next++
		} else if count <= fields && others[count] != nil {
			*others[count] = small(text[:end])
		}
		text = text[end:]
	}
	r.MemoryKiB = requested
	if requested <= 0 {
		r.MemoryKiB = used
	}
	if count < fields {
		return r, cluster.Fault(fmt.Sprintf("line %d", line), "%d fields, want the 18 of the Standard Workload Format", count)
	}
	return r, nil
}

// unknown is a missing value.
var unknown = Others{-1, -1, -1, -1, -1, -1}

// small parses a number of [Others], or returns -1.
func small(text []byte) int32 {
	if v, ok := number(text); ok && 0 <= v && v <= math.MaxInt32 {
		return int32(v)
	}
	return -1
}

const blanks = " \t\r\v\f"

// number parses a number and truncates its fraction.
func number(text []byte) (int64, bool) {
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v, -largest <= v && v <= largest
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return int64(f), err == nil && math.Abs(f) <= largest
}
