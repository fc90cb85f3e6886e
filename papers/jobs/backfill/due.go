package backfill

// dueHeap is the bookings that wait, the one that starts first on top; of those
// that start together, the one that came first. Each knows its index.
type dueHeap []*booking

func (h dueHeap) less(i, k int) bool {
	a, b := h[i], h[k]
	return a.start < b.start || a.start == b.start && a.place < b.place
}

func (h dueHeap) swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].due, h[k].due = i, k
}

func (h *dueHeap) add(b *booking) {
	b.due = len(*h)
	*h = append(*h, b)
	h.up(b.due)
}

// remove takes a booking out; it waits no more.
func (h *dueHeap) remove(b *booking) {
	i, last := b.due, len(*h)-1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
	b.due = -1
}

// sooner finds the place of a booking that starts earlier than before.
func (h dueHeap) sooner(b *booking) { h.up(b.due) }

func (h dueHeap) up(i int) {
	for i > 0 && h.less(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h dueHeap) down(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(h) && h.less(child+1, child) {
			child++
		}
		if child >= len(h) || !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
