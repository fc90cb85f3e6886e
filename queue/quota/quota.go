// Package quota limits what users, projects and queues may run at once, and how much CPU time they may
// use, with limits that depend on the time of day. A [Tally] counts running vjobs and tells which quota
// refuses a vjob; [Tally.Capacity] wraps any capacity, so that every policy obeys.
//
// No vjob is suspended for a quota: running vjobs count even if a limit has become smaller.
package quota

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/cluster/calendar"
)

// Measure is what a limit bounds.
type Measure uint8

// The measures, with their units.
const (
	VMs     Measure = iota // number
	CPU                    // thousandths of a processor
	Memory                 // MiB
	CPUTime                // milliseconds of one processor, within the time that the quota says
	measures
)

// amount is one number for each measure.
type amount [measures]int64

// Limits are the most that may be used; a measure without an entry has no limit.
type Limits map[Measure]int64

// Each instead of a name counts each user, project or queue separately.
const Each = "each"

// Quota is a limit on some vjobs. User, Project and Queue each are a name, [Each], or "" to count all
// together. Of quotas with the same name, the last that matches a vjob applies: exceptions follow the
// rule.
type Quota struct {
	Name                 string
	User, Project, Queue string
	Limits               *calendar.Calendar[Limits]
	Within               time.Duration // CPU time is counted so far back; only with such a limit
}

// Association is the user, the project and the queue of a vjob, or a group of vjobs: "" matches all.
type Association struct{ User, Project, Queue string }

// has reports whether another belongs to the group.
func (w Association) has(o Association) bool {
	return (w.User == "" || w.User == o.User) && (w.Project == "" || w.Project == o.Project) && (w.Queue == "" || w.Queue == o.Queue)
}

// group returns the group with which a vjob is counted; false if the quota does not apply to it.
func (q *Quota) group(w Association) (group Association, concerned bool) {
	pick := func(says, name string) string {
		if says == Each {
			return name
		}
		return says
	}
	group = Association{pick(q.User, w.User), pick(q.Project, w.Project), pick(q.Queue, w.Queue)}
	return group, group.has(w)
}

// Book is the quotas of a cluster. It does not change.
type Book struct {
	quotas []Quota
	named  [][]int // quotas of one name, in their order
}

// New checks the quotas; queues are the names of all queues.
func New(quotas []Quota, queues []string) (*Book, error) {
	b := &Book{quotas: slices.Clone(quotas)}
	place := map[string]int{}
	for i := range quotas {
		q := &b.quotas[i]
		if err := q.check(queues); err != nil {
			return nil, located(i, err)
		}
		n, known := place[q.Name]
		if !known {
			n = len(b.named)
			place[q.Name] = n
			b.named = append(b.named, nil)
		}
		for _, k := range b.named[n] {
			if q.covers(&b.quotas[k]) {
				return nil, located(k, cluster.Fault("name",
					"%q must come before quotas[%d], which has the same name, is for all of them, and would always hold instead", q.Name, i))
			}
		}
		b.named[n] = append(b.named[n], i)
	}
	return b, nil
}

func located(i int, err error) error {
	return cluster.WithPath(fmt.Sprintf("quotas[%d]", i), err)
}

func (q *Quota) check(queues []string) error {
	if strings.TrimSpace(q.Name) == "" {
		return cluster.BadField("name", q.Name, "a name")
	}
	if q.Queue != "" && q.Queue != Each && !slices.Contains(queues, q.Queue) {
		return cluster.BadField("queue", q.Queue, fmt.Sprintf("a queue that there is (%s), %q, or nothing", strings.Join(queues, ", "), Each))
	}
	if q.Limits == nil {
		q.Limits = calendar.Always(Limits{})
	}
	limits, timed := 0, false
	for _, l := range q.Limits.Values() {
		for _, m := range slices.Sorted(maps.Keys(l)) {
			if l[m] < 0 {
				return cluster.BadField("limits", l[m], "0 or more "+m.unit())
			}
			limits++
			timed = timed || m == CPUTime
		}
	}
	switch {
	case limits == 0:
		return cluster.Fault("limits", "missing, want a limit on VMs, CPU, memory or CPU time")
	case timed && q.Within < time.Hour:
		return cluster.BadField("within", q.Within, `at least 1h, such as "7d": CPU time is counted so far back`)
	case !timed && q.Within != 0:
		return cluster.Fault("within", "%s requires a limit on CPU time", q.Within)
	}
	return nil
}

// covers reports whether the quota applies to all vjobs of another.
func (q *Quota) covers(o *Quota) bool {
	over := func(mine, other string) bool { return mine == "" || mine == Each || mine == other }
	return over(q.User, o.User) && over(q.Project, o.Project) && over(q.Queue, o.Queue)
}

// matching returns the quotas that apply.
func (b *Book) matching(w Association) (list []int) {
	for _, named := range b.named {
		for _, i := range slices.Backward(named) {
			if _, concerned := b.quotas[i].group(w); concerned {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// Empty reports whether there are no quotas.
func (b *Book) Empty() bool { return len(b.quotas) == 0 }

// Within returns how far back CPU time is counted at most; 0: no quota limits it.
func (b *Book) Within() (longest time.Duration) {
	for i := range b.quotas {
		longest = max(longest, b.quotas[i].Within)
	}
	return longest
}

// Next returns when time alone changes a limit, or the use of an hour expires; false: never.
func (b *Book) Next(now time.Time) (change time.Time, ok bool) {
	see := func(t time.Time) {
		if !ok || t.Before(change) {
			change, ok = t, true
		}
	}
	for i := range b.quotas {
		q := &b.quotas[i]
		if t, changes := q.Limits.Next(now); changes {
			see(t)
		}
		if q.Within > 0 {
			oldest := Hour{From: now.Add(-q.Within).Truncate(time.Hour)}
			see(oldest.fades(q.Within))
		}
	}
	return change, ok
}

// CheckFeasible returns why a vjob could not run even alone and at any time: it needs more than the largest limit
// of a quota. Nil: it could.
func (b *Book) CheckFeasible(j *Job) error {
	for _, i := range b.matching(j.Association) {
		q := &b.quotas[i]
		group, _ := q.group(j.Association)
		need := j.need(q.Within)
		for m := range measures {
			if most, limited := q.most(m); limited && need[m] > most {
				return cluster.Fault(m.field(), "%s requested, %s allows at most %s", m.text(need[m]), title(q.Name, "", group), m.text(most))
			}
		}
	}
	return nil
}

// most returns the largest limit of all windows.
func (q *Quota) most(m Measure) (most int64, limited bool) {
	for _, l := range q.Limits.Values() {
		limit, there := l[m]
		if !there {
			return 0, false
		}
		most = max(most, limit)
	}
	return most, true
}

// title returns the name of a quota with its window and group: "quota cpus (night) of user ann".
func title(name, window string, w Association) string {
	var b strings.Builder
	b.WriteString("quota " + name)
	if window != "" {
		b.WriteString(" (" + window + ")")
	}
	word := " of "
	for _, part := range [][2]string{{"user ", w.User}, {"project ", w.Project}, {"queue ", w.Queue}} {
		if part[1] != "" {
			b.WriteString(word + part[0] + part[1])
			word = " in "
		}
	}
	return b.String()
}

func (m Measure) unit() string { return [measures]string{"VMs", "CPU", "MiB", "CPU-hours"}[m] }

// field returns the field of a submission that sets the measure.
func (m Measure) field() string {
	if m == CPUTime {
		return "walltime_seconds"
	}
	return "vms"
}

// text returns an amount with its unit.
func (m Measure) text(n int64) string {
	if m == Memory {
		return cluster.MiB(n).String()
	}
	return m.number(n) + " " + m.unit()
}

func (m Measure) number(n int64) string {
	switch m {
	case CPU:
		return cluster.MilliCPU(n).String()
	case Memory:
		return cluster.MiB(n).String()
	case CPUTime:
		if hours := float64(n) / hour; hours > 0 && hours < 0.1 {
			return fmt.Sprintf("%.1g", hours)
		}
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/hour), ".0")
	default:
		return strconv.FormatInt(n, 10)
	}
}

// hour is a CPU-hour in milliseconds.
const hour = 3_600_000
