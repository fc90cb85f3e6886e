package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// IndexRange is the places from First to Last of an array, both included.
type IndexRange struct{ First, Last int }

// maxIndexRanges is the most ranges of one text.
const maxIndexRanges = 100

// ParseIndexes reads places of an array: "3", "3-7", or several of these with commas. The error is a
// [FieldError] of the field.
func ParseIndexes(field, text string) (list []IndexRange, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, several := strings.Cut(part, "-")
		if !several {
			to = from
		}
		first, ok := index(from)
		last, also := index(to)
		if !ok || !also || last < first || len(list) == maxIndexRanges {
			return nil, BadField(field, text, fmt.Sprintf("places of an array, from 1, such as 3, 3-7 or 2,5-9; at most %d ranges", maxIndexRanges))
		}
		list = append(list, IndexRange{first, last})
	}
	return list, nil
}

// index reads a place of an array in its one spelling.
func index(text string) (int, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil && n > 0 && strconv.FormatInt(n, 10) == text
}
