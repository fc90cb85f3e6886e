package sparse_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/internal/sparse"
)

// Lists are what a slice of slices is, whatever is done to them.
func TestListsAreASliceOfSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 70).Draw(t, "size")
		lists, other, want, beside := sparse.New[int](size), sparse.New[int](size), make([][]int, size), make([][]int, size)
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			n := rapid.IntRange(0, size-1).Draw(t, "number")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				*lists.Ref(n), want[n] = nil, nil
			case 1:
				other.Add(n, i)
				beside[n] = append(beside[n], i)
			default:
				lists.Add(n, i)
				want[n] = append(want[n], i)
			}
		}
		var all, both []string
		for n := range want {
			if !slices.Equal(lists.At(n), want[n]) {
				t.Fatalf("list %d is %v, want %v", n, lists.At(n), want[n])
			}
			if len(want[n]) > 0 {
				all = append(all, fmt.Sprint(n, want[n]))
			}
			if len(want[n])+len(beside[n]) > 0 {
				both = append(both, fmt.Sprint(n))
			}
		}
		var yielded, either []string
		for n, list := range lists.All() {
			yielded = append(yielded, fmt.Sprint(n, list))
		}
		for n := range sparse.Either(lists, other) {
			either = append(either, fmt.Sprint(n))
		}
		if !slices.Equal(yielded, all) || !slices.Equal(either, both) {
			t.Fatalf("all are %v and %v, want %v and %v", yielded, either, all, both)
		}
	})
}

// A loop over lists can end early.
func TestEndOfALoop(t *testing.T) {
	lists := sparse.New[int](100)
	for n := range 100 {
		lists.Add(n, n)
	}
	seen := 0
	for range lists.All() {
		if seen++; seen == 3 {
			break
		}
	}
	for range sparse.Either(lists, lists) {
		if seen++; seen == 6 {
			break
		}
	}
	if seen != 6 {
		t.Errorf("%d lists were seen", seen)
	}
}
