// Package brute solves small problems by exhaustive search, as a reference for tests of
// better algorithms.
package brute

// Packs reports whether the items fit into the bins, all of one size.
func Packs(items []int, bins, size int) bool {
	return pack(items, make([]int, bins), size)
}

// pack reports whether the items fit beside what the bins already hold.
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
