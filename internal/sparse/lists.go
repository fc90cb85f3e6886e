// Package sparse keeps lists by number, most of which are empty: what a plan does concerns few of the nodes of a large cluster.
package sparse

import "iter"

// Lists is a list for each number from 0 to a size. The zero value has the size 0.
type Lists[E any] struct{ pages []*page[E] }

// page is the lists of some numbers in a row. It is made when one of them gets an element.
type page[E any] [pageSize][]E

const pageSize = 16

// New returns so many empty lists.
func New[E any](size int) Lists[E] {
	return Lists[E]{make([]*page[E], (size+pageSize-1)/pageSize)}
}

// At returns the list of a number; nil if it is empty.
func (l Lists[E]) At(number int) []E {
	if p := l.pages[uint(number)/pageSize]; p != nil {
		return p[uint(number)%pageSize]
	}
	return nil
}

// Ref returns where the list of a number is kept, so that it can be changed.
func (l Lists[E]) Ref(number int) *[]E {
	at := uint(number) / pageSize
	if l.pages[at] == nil {
		l.pages[at] = new(page[E])
	}
	return &l.pages[at][uint(number)%pageSize]
}

// All yields the lists that are not empty, in order of numbers.
func (l Lists[E]) All() iter.Seq2[int, []E] {
	return func(yield func(int, []E) bool) {
		for at, p := range l.pages {
			if p == nil {
				continue
			}
			for k, list := range p {
				if len(list) > 0 && !yield(at*pageSize+k, list) {
					return
				}
			}
		}
	}
}

// Either yields, in order, the numbers that have elements in one of two tables of the same size.
func Either[E any](a, b Lists[E]) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := range a.pages {
			if a.pages[at] == nil && b.pages[at] == nil {
				continue
			}
			for n := at * pageSize; n < (at+1)*pageSize; n++ {
				if (len(a.At(n)) > 0 || len(b.At(n)) > 0) && !yield(n) {
					return
				}
			}
		}
	}
}

// Add appends an element to the list of a number.
func (l Lists[E]) Add(number int, e E) {
	list := l.Ref(number)
	*list = append(*list, e)
}
