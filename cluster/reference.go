package cluster

import (
	"errors"
	"strconv"
	"strings"
)

// Reference is a word that names a vjob, an array or some of its vjobs: "7", "sweep", "sweep[3-7]", "1046[]".
type Reference struct {
	ID      VJobID // 0: by name
	Name    string // without brackets
	Member  bool   // with brackets
	Indexes string // in the brackets; "": the whole array
}

// ParseReference reads a word that names vjobs; the error is about a field.
func ParseReference(field, word string) (Reference, error) {
	name, indexes, member := strings.Cut(word, "[")
	indexes, closed := strings.CutSuffix(indexes, "]")
	if name == "" || member != closed || strings.ContainsAny(name+indexes, "[]") {
		return Reference{}, BadField(field, word, "the number or the name of a vjob or an array, or some of an array such as sweep[3-7]")
	}
	r := Reference{Name: name, Member: member, Indexes: indexes}
	if r.Indexes != "" {
		if _, err := ParseIndexes(field, r.Indexes); err != nil {
			return r, err
		}
	}
	id, err := strconv.ParseInt(r.Name, 10, 64)
	if err == nil && id < 1 || errors.Is(err, strconv.ErrRange) {
		return r, BadField(field, word, "the number or the name of a vjob, or one of an array such as sweep[3]")
	}
	r.ID = VJobID(id)
	return r, nil
}
