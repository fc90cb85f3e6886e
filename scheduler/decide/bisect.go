package decide

import (
	"slices"

	"vjob/cluster"
)

// Culprit is a vjob that makes a decision fail.
type Culprit struct {
	VJob cluster.VJobID
	Why  string
}

// decideWithoutCulprits takes a decision on one view. If the decision fails, by a fault or by a panic, decide finds
// the vjobs that cause it and decides without them. It returns an error if the decision fails
// without any vjob as well.
func (v *View) decideWithoutCulprits() (d Decision, err error) {
	d, fault := v.decideRecovering(false)
	if fault == nil {
		return d, nil
	}
	h := bisection{view: v, tries: maxTries}
	culprits := h.find()
	if len(culprits) == 0 {
		return d, fault
	}
	reasons, found := map[cluster.VJobID]string{}, make([]Culprit, 0, len(culprits))
	for i, id := range culprits {
		others := slices.Delete(slices.Clone(culprits), i, i+1)
		why := fault
		if _, own := h.try(others); own != nil {
			why = own // with this one alone
		}
		reasons[id] = why.Error()
		found = append(found, Culprit{id, reasons[id]})
	}
	d, err = v.without(reasons).decideRecovering(false)
	d.Culprits = found
	return d, err
}

// bisection finds the vjobs that make a decision fail, by deciding without some of them.
type bisection struct {
	view  *View
	tries int // tries that are left
}

// maxTries bounds a bisection: it finds one vjob among a million, or some dozens among
// thousands. Beyond that whole groups are quarantined and sorted out at the next try.
const maxTries = 64

// find returns few vjobs without which a decision succeeds; none if it fails without any vjob.
func (h *bisection) find() []cluster.VJobID {
	var suspects []cluster.VJobID
	for i := range h.view.VJobs {
		if id := h.view.VJobs[i].Job.ID; h.view.quarantined[id] == "" {
			suspects = append(suspects, id)
		}
	}
	if h.fails(suspects) {
		return nil
	}
	return h.search(suspects, nil)
}

// search returns the suspects that must be left out beside out: leaving out only out fails,
// leaving out the suspects as well succeeds.
func (h *bisection) search(suspects, out []cluster.VJobID) []cluster.VJobID {
	if len(suspects) == 1 || h.tries <= 0 {
		return suspects
	}
	half := len(suspects) / 2
	first, second := suspects[:half], suspects[half:]
	withFirst, withSecond := slices.Concat(out, first), slices.Concat(out, second)
	if !h.fails(withFirst) {
		return h.search(first, out)
	}
	if !h.fails(withSecond) {
		return h.search(second, out)
	}
	found := h.search(second, withFirst)
	if out = slices.Concat(out, found); h.fails(out) {
		found = slices.Concat(found, h.search(first, out))
	}
	return found
}

func (h *bisection) fails(without []cluster.VJobID) bool {
	_, fault := h.try(without)
	return fault != nil
}

// try takes a decision without some vjobs.
func (h *bisection) try(without []cluster.VJobID) (Decision, error) {
	h.tries--
	reasons := make(map[cluster.VJobID]string, len(without))
	for _, id := range without {
		reasons[id] = "it is left out"
	}
	return h.view.without(reasons).decideRecovering(true)
}
