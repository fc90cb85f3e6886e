package backfill

// end is when a job ends.
type end struct {
	at Time
	id int64
}

// ends is the jobs that run as a heap, the one that ends first on top.
type ends []end

func (e *ends) push(at Time, id int64) {
	h := append(*e, end{at, id})
	i := len(h) - 1
	for parent := (i - 1) / 2; i > 0 && h[parent].at > at; parent = (i - 1) / 2 {
		h[i] = h[parent]
		i = parent
	}
	h[i] = end{at, id}
	*e = h
}

// pop takes out the job that ends first.
func (e *ends) pop() int64 {
	h := *e
	top, last := h[0].id, h[len(h)-1]
	h = h[:len(h)-1]
	*e = h
	i := 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if h[child].at >= last.at {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	return top
}
