// Package suggest suggests the closest known name for a misspelt one. It is pure.
package suggest

import "strings"

// longest is the length beyond which a word gets no suggestion.
const longest = 64

// Nearest returns the name that is closest to a word, the first of equals, or "" if more than
// half of the letters would have to change. Case does not matter.
func Nearest(word string, names ...[]string) string {
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", len(word)/2+1
	if len(word) >= 4 {
		least++ // "secs" is seconds
	}
	for _, list := range names {
		for _, n := range list {
			if far := len(n) - len(word); far >= least || -far >= least {
				continue
			}
			if d := distance(word, strings.ToLower(n)); d < least {
				best, least = n, d
			}
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			replace := corner
			if a[i] != b[j] {
				replace++
			}
			corner = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
