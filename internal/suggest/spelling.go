// Package suggest guesses which name was meant by a word that is none.
//
// It is pure. It refuses to know what the names are of.
package suggest

import "strings"

// longest is the length beyond which a word is no slip of a name.
const longest = 64

// Nearest is the name that is most like a word, the first of equals; "" if none is
// alike: more than half of the letters would have to change. Case does not matter.
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

// distance counts the letters to insert, delete or replace between a and b
// (Levenshtein).
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
