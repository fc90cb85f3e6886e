package resource

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vjob/oar"
)

// Format is how oarprint prints resources.
type Format struct {
	Key        string   // a line for each of its values
	Properties []string // that are printed; none: the key
	Text       string   // of a line, with a token for each property
	Token      string   // in Text, such as %
	Separator  string   // of several values of a property
}

// Print prints a line for each value of the key: numbers in their order, other values in the order of
// the list. The error is an [*oar.Error] about a property that a resource does not have.
func (f Format) Print(list []Resource) (string, error) {
	properties := f.Properties
	if len(properties) == 0 {
		properties = []string{f.Key}
	}
	var keys []string
	values := map[string][][]string{} // by key and property
	for _, r := range list {
		key, err := value(r, f.Key)
		if err != nil {
			return "", err
		}
		if values[key] == nil {
			keys, values[key] = append(keys, key), make([][]string, len(properties))
		}
		for i, name := range properties {
			v, err := value(r, name)
			if err != nil {
				return "", err
			}
			if !slices.Contains(values[key][i], v) {
				values[key][i] = append(values[key][i], v)
			}
		}
	}
	slices.SortStableFunc(keys, byNumber)
	var b strings.Builder
	for _, key := range keys {
		f.line(&b, values[key])
	}
	return b.String(), nil
}

// line writes one line. Properties beyond the tokens follow, separated by blanks.
func (f Format) line(b *strings.Builder, values [][]string) {
	rest, token := f.Text, f.Token != ""
	for i, list := range values {
		var before string
		if token {
			before, rest, token = strings.Cut(rest, f.Token)
		}
		b.WriteString(before)
		if !token && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Join(list, f.Separator))
	}
	if f.Token != "" {
		rest, _, _ = strings.Cut(rest, f.Token)
	}
	b.WriteString(rest + "\n")
}

func value(r Resource, name string) (string, error) {
	v, ok := r.Value(name)
	if !ok {
		return "", &oar.Error{Exit: ExitPrint, OAR: fmt.Sprintf("oarprint: Unknown property '%s'", oar.Printable(name)), Text: "there are " + strings.Join(r.Names(), ", ")}
	}
	return v, nil
}

// Names returns the names of the properties.
func (r Resource) Names() []string {
	names := make([]string, len(r))
	for i, p := range r {
		names[i] = p.Name
	}
	return names
}

// byNumber compares numbers by value. Other texts are equal.
func byNumber(a, b string) int {
	x, err1 := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return cmp.Compare(x, y)
}
