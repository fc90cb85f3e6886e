package api

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"vjob/api/wire"
	"vjob/cluster"
)

// fieldsParam is the parameter of [queryReader.fields].
var fieldsParam = Param{
	Name: "fields", Kind: "string",
	Meaning: "only these fields of each vjob, with commas between them, such as id,name,state; the others are absent, though the schema requires them",
}

// vjobFields are the fields of a vjob in JSON, in their order.
var vjobFields = sync.OnceValue(func() objectWriter { return objectOf(reflect.TypeFor[wire.VJob]()) })

// fields reads the fields that a request asks for, nil for all.
func (q *queryReader) fields() (list objectWriter) {
	text, given := q.c.GetQuery(fieldsParam.Name)
	if !given || q.err != nil {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		named := func(f fieldWriter) bool { return f.name == name }
		i := slices.IndexFunc(vjobFields(), named)
		if i < 0 {
			q.err = cluster.BadField(fieldsParam.Name, name, "a field of a vjob; id,name,state asks for three of them")
			return nil
		}
		if !slices.ContainsFunc(list, named) {
			list = append(list, vjobFields()[i])
		}
	}
	return list
}

// inTerms reports whether some fields are made of the terms of a vjob, which the store reads apart.
func inTerms(fields objectWriter) bool {
	return slices.ContainsFunc(fields, func(f fieldWriter) bool { return f.name == "comment" || f.name == "labels" || f.name == "late" })
}
