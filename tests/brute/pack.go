// Package brute answers small questions by trying everything, for tests to compare with
// what is cleverer.
//
// It refuses to know who asks.
package brute

// Packs reports whether items find places in bins of one size.
func Packs(items []int, bins, size int) bool {
	return pack(items, make([]int, bins), size)
}

// pack goes on with bins that are used so far.
func pack(items, used []int, size int) bool {
	if len(items) == 0 {
		return true
	}
	for i := range used {
		if used[i]+items[0] > size {
			continue
		}
		used[i] += items[0]
		if pack(items[1:], used, size) {
			return true
		}
		used[i] -= items[0]
	}
	return false
}
