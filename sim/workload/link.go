package workload

import (
	"fmt"
	"strconv"
	"strings"

	"vjob/cluster"
)

// Link is a condition on another vjob of the workload.
type Link struct {
	On   int // index of the job
	When cluster.Condition
	// Index is the index in the array On, from 1; 0 is the whole array, or the single vjob.
	Index int
}

// misplaced is an error about the job at an index of the file.
type misplaced struct {
	source int
	err    error
}

// link resolves references to other vjobs. A vjob may only refer to earlier ones, which
// excludes cycles. The jobs are sorted.
func (w *Workload) link() *misplaced {
	places := make(map[string]int, len(w.Jobs))
	for i := range w.Jobs {
		places[w.Jobs[i].Submission.Name] = i
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		for k, text := range j.waits {
			link, err := w.find(places, text)
			if err == nil {
				err = w.before(places, i, link.On)
			}
			if owner := w.Jobs[link.On].Submission.Owner; err == nil && owner != j.Submission.Owner {
				err = cluster.BadField("", text, fmt.Sprintf("a vjob of the same owner: that one is of %s, this of %s", owner, j.Submission.Owner))
			}
			if err != nil {
				return &misplaced{j.source, cluster.Renamed(fmt.Sprintf("after[%d]", k), err)}
			}
			j.After = append(j.After, link)
		}
		if j.inner == "" {
			continue
		}
		on, known := places[j.inner]
		if !known || on >= i || !w.Jobs[on].Submission.Container {
			return &misplaced{j.source, cluster.BadField("inner", j.inner, "the id of a container that is submitted before it")}
		}
		j.Inner = &on
	}
	return nil
}

// find parses a condition: "a", "afterany:a", "after:sweep[3]", "afterok:sweep[]".
func (w *Workload) find(places map[string]int, text string) (link Link, err error) {
	name := text
	if word, rest, found := strings.Cut(text, ":"); found {
		if when, err := cluster.ParseCondition(word); err == nil {
			link.When, name = when, rest
		}
	}
	on, known := places[name]
	if !known && strings.HasSuffix(name, "]") {
		array, index, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		if on, known = places[array]; known {
			size := len(w.Jobs[on].Submission.Array)
			if size == 0 {
				return link, cluster.Fault("", "%q has [], and %s is not an array", text, array)
			}
			if index != "" {
				link.Index, err = strconv.Atoi(index)
				if err != nil || link.Index < 1 || link.Index > size {
					return link, cluster.BadField("", text, fmt.Sprintf("a place from 1 to %d in the array %s", size, array))
				}
			}
		}
	}
	if !known {
		return link, cluster.BadField("", text, "the id of a vjob of this file, with a condition (afterok, afterany, afternotok or after) and a colon before it, or without")
	}
	link.On = on
	return link, nil
}

// before returns an error unless a vjob is submitted before its dependent.
func (w *Workload) before(places map[string]int, job, on int) error {
	if on < job {
		return nil
	}
	this, other := &w.Jobs[job], &w.Jobs[on]
	if ring := w.ring(places, job, on); ring != "" {
		return cluster.Fault("", "%q closes a cycle: %s", other.Submission.Name, ring)
	}
	return cluster.BadField("", other.Submission.Name, fmt.Sprintf(
		"a vjob that is submitted before it: that one comes at %gs, this at %gs", other.At.Seconds(), this.At.Seconds()))
}

// ring describes a dependency cycle through a vjob, or returns "".
func (w *Workload) ring(places map[string]int, from, over int) string {
	came, list := map[int]int{over: from}, []int{over}
	for len(list) > 0 {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		if at == from {
			return w.way(came, from)
		}
		for _, text := range w.Jobs[at].waits {
			if link, err := w.find(places, text); err == nil {
				if _, seen := came[link.On]; !seen {
					came[link.On] = at
					list = append(list, link.On)
				}
			}
		}
	}
	return ""
}

// way formats a cycle: "a waits for b, which waits for a".
func (w *Workload) way(came map[int]int, from int) string {
	names := []string{w.Jobs[from].Submission.Name}
	for at := came[from]; at != from; at = came[at] {
		names = append(names, w.Jobs[at].Submission.Name)
	}
	names = append(names, names[0])
	for a, b := 0, len(names)-1; a < b; a, b = a+1, b-1 {
		names[a], names[b] = names[b], names[a]
	}
	return names[0] + " waits for " + strings.Join(names[1:], ", which waits for ")
}
