package cluster

import (
	"reflect"
	"strings"
	"time"
)

// TermField describes one field of [Terms]. The tags of the field are
//
//	json  the name in requests, vjob files, workload files and the store
//	flag  the flag of vjob submit, and after a comma another name or a letter of it
//	help  the meaning, as the help of the flag says it; the placeholder of its value stands in <>
//	show  the title of a line of vjob show
type TermField struct {
	Name  string
	Flag  string // without dashes; "" if it has no flag of its own
	Alias string // another name or a letter of the flag, or ""
	Help  string // the placeholder in backquotes
	Title string // "" if vjob show has no line for it, or one that says more
	index int
}

// TermFields lists the fields of [Terms] in their order. The list is shared.
func TermFields() []TermField { return termFields }

var termFields = readTermFields()

func readTermFields() []TermField {
	of := reflect.TypeFor[Terms]()
	list := make([]TermField, of.NumField())
	quoted := strings.NewReplacer("<", "`", ">", "`")
	for i := range list {
		tag := of.Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		flag, alias, _ := strings.Cut(tag.Get("flag"), ",")
		help := quoted.Replace(tag.Get("help"))
		list[i] = TermField{Name: name, Flag: flag, Alias: alias, Help: help, Title: tag.Get("show"), index: i}
	}
	return list
}

// In returns a pointer to the value of the field in terms, such as *string, *bool or *time.Time.
func (f *TermField) In(t *Terms) any {
	return reflect.ValueOf(t).Elem().Field(f.index).Addr().Interface()
}

// UTC returns the terms with all instants in UTC.
func (t Terms) UTC() Terms {
	for i := range termFields {
		if at, ok := termFields[i].In(&t).(*time.Time); ok {
			*at = at.UTC()
		}
	}
	return t
}

// Copy sets the field to its value in other terms. Lists are shared.
func (f *TermField) Copy(to, from *Terms) {
	reflect.ValueOf(to).Elem().Field(f.index).Set(reflect.ValueOf(from).Elem().Field(f.index))
}
