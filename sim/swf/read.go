package swf

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// Read reads a whole log for a pool of processors; 0 is the number in the log itself.
// The counts of the log tell how missing fields were handled. It is an error if
// a field is not a number, if the number of processors is unknown, or if no job
// remains.
func Read(in io.Reader, processors int64) (*Log, error) {
	r, err := newReader(in)
	if err != nil {
		return nil, err
	}
	b := builder{log: &Log{Processors: processors}}
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			b.log.Declared, b.log.Word = r.declared()
			return b.finish(r.begin)
		case errors.Is(err, errCutOff):
			b.count(CutOff, record.Line)
		case err != nil:
			return nil, err
		default:
			if err := b.pool(r); err != nil {
				return nil, err
			}
			b.add(&record)
		}
	}
}

// builder builds a log from its lines.
type builder struct {
	log    *Log
	counts [conventions]Count
	last   int64 // submission
	// met holds the numbers of previous jobs; nil as long as each is larger than the one
	// before.
	met map[int64]bool
}

// pool sets the number of processors. It is an error if the number is unknown.
func (b *builder) pool(r *Reader) error {
	if b.log.Processors == 0 {
		b.log.Processors, _ = r.declared()
	}
	if b.log.Processors == 0 {
		return cluster.Fault("processors", "missing: the log has neither MaxProcs nor MaxNodes")
	}
	return nil
}

func (b *builder) count(c Convention, line int) {
	n := &b.counts[c]
	n.Convention = c
	if n.Jobs++; n.Jobs == 1 {
		n.Line = line
	}
}

// add adds a job to the log by the conventions.
func (b *builder) add(r *Record) {
	b.log.Lines++
	width := r.Requested
	if width <= 0 {
		width = r.Allocated
	}
	for _, left := range []struct {
		out bool
		why Convention
	}{
		{width <= 0, NoProcessors}, {r.Run <= 0, NoRun}, {r.Submit < 0, NoSubmit}, {width > b.log.Processors, TooWide},
	} {
		if left.out {
			b.count(left.why, r.Line)
			return
		}
	}
	j := Job{Number: r.Number, Submit: r.Submit, Run: r.Run, Walltime: r.Walltime, Processors: width, Others: r.Others}
	if r.Allocated > 0 && r.Allocated != width {
		b.count(Requested, r.Line)
	}
	if j.Walltime <= 0 {
		b.count(NoWalltime, r.Line)
		j.Walltime = j.Run
	}
	if j.Run > j.Walltime {
		b.count(Killed, r.Line)
		j.Run = j.Walltime
	}
	if j.Submit < b.last {
		b.count(OutOfOrder, r.Line)
	}
	b.last = max(b.last, j.Submit)
	if b.repeats(j.Number) {
		b.count(Repeated, r.Line)
	}
	if r.partial() {
		b.count(Part, r.Line)
	}
	b.log.Jobs = append(b.log.Jobs, j)
}

// repeats reports whether a previous job has the number.
func (b *builder) repeats(number int64) bool {
	jobs := b.log.Jobs
	if b.met == nil && (len(jobs) == 0 || number > jobs[len(jobs)-1].Number) {
		return false
	}
	if b.met == nil {
		b.met = make(map[int64]bool, len(jobs))
		for i := range jobs {
			b.met[jobs[i].Number] = true
		}
	}
	known := b.met[number]
	b.met[number] = true
	return known
}

// finish sorts the jobs and makes their times relative to the first one. begin is the Unix
// time at which the log begins, or 0 if unknown.
func (b *builder) finish(begin int64) (*Log, error) {
	for _, n := range b.counts {
		if n.Jobs > 0 {
			b.log.Counts = append(b.log.Counts, n)
		}
	}
	jobs := b.log.Jobs
	if len(jobs) == 0 {
		return nil, b.empty()
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	first := jobs[0].Submit
	if begin > 0 {
		b.log.Start = time.Unix(begin+first, 0).UTC()
	}
	for i := range jobs {
		jobs[i].Submit -= first
	}
	return b.log, nil
}

// empty returns the error that no job remains, with the reasons.
func (b *builder) empty() error {
	why := []string{"none of the log can be replayed"}
	for _, n := range b.log.Counts {
		why = append(why, fmt.Sprintf("%d from line %d on: %s", n.Jobs, n.Line, n.Convention))
	}
	return cluster.Fault("jobs", "%s", strings.Join(why, "; "))
}
