package message

import "strings"

// Nearest is the name that is most like a word, or "" when none is. Case does not
// matter.
func Nearest(word string, names []string) string {
	const longest = 64 // nobody means something by a longer slip
	best, least := "", len(word)/2+1
	if len(word) > longest {
		return ""
	}
	for _, n := range names {
		if far := len(n) - len(word); far >= least || -far >= least {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
