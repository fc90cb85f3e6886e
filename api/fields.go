package api

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// fieldsParam is the parameter of [queryReader.fields].
var fieldsParam = Param{
	Name: "fields", Kind: "string",
	Meaning: "only these fields of each vjob, with commas between them, such as id,name,state; the others are absent, though the schema requires them",
}

// field is a field of [wire.VJob] in JSON.
type field struct {
	name      string
	index     int  // in the struct
	omitEmpty bool // it is absent if it has its zero value
}

// vjobFields are the fields of a vjob in their order.
var vjobFields = sync.OnceValue(func() (list []field) {
	for f := range reflect.TypeFor[wire.VJob]().Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, field{name, f.Index[0], options == "omitempty"})
	}
	return list
})

// fields reads the fields that a request asks for, nil for all.
func (q *queryReader) fields() (list []field) {
	text, given := q.c.GetQuery(fieldsParam.Name)
	if !given || q.err != nil {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(vjobFields(), func(f field) bool { return f.name == name })
		if i < 0 {
			q.err = cluster.BadField(fieldsParam.Name, name, "a field of a vjob; id,name,state asks for three of them")
			return nil
		}
		if f := vjobFields()[i]; !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// inTerms reports whether some fields are made of the terms of a vjob, which the store reads apart.
func inTerms(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.name == "comment" || f.name == "labels" || f.name == "late" })
}

// partialList is a [wire.VJobList] with some fields of each vjob.
type partialList struct {
	VJobs []partialVJob `json:"vjobs"`
	Total int           `json:"total"`
	Next  string        `json:"next,omitzero"`
}

// partialVJob is one of its vjobs.
type partialVJob struct {
	*view
	row *journal.Row
}

// view is how a caller sees vjobs, one at a time.
type view struct {
	fields []field
	now    *scheduler.Snapshot
	viewer string
	job    wire.VJob // that is written
}

// list views a page of rows.
func (v *view) list(rows []journal.Row, total int, next string) *partialList {
	list := &partialList{VJobs: make([]partialVJob, len(rows)), Total: total, Next: next}
	for i := range rows {
		list.VJobs[i] = partialVJob{v, &rows[i]}
	}
	return list
}

// MarshalJSONTo implements [json.MarshalerTo].
func (p partialVJob) MarshalJSONTo(to *jsontext.Encoder) error {
	p.job = wireVJob(p.row, p.now, p.viewer)
	job := reflect.ValueOf(&p.job).Elem()
	if err := to.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, f := range p.fields {
		value := job.Field(f.index)
		if f.omitEmpty && value.IsZero() {
			continue
		}
		if err := to.WriteToken(jsontext.String(f.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(to, value.Addr().Interface()); err != nil {
			return err
		}
	}
	return to.WriteToken(jsontext.EndObject)
}

// answerPart answers with some fields of a list.
func answerPart(c *gin.Context, list *partialList) error {
	data, err := json.Marshal(list, jsonv1.DefaultOptionsV1()) // as whole vjobs are written
	if err != nil {
		return err
	}
	send(c, contentJSON, "", data)
	return nil
}
