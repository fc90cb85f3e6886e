package journal_test

import (
	"reflect"
	"testing"

	"vjob/ctxswitch/journal"
)

// Whatever a step may hold is something to commit, and outlives being put behind another
// step: a field that one of them forgot would be lost.
func TestNoFieldOfAStepIsForgotten(t *testing.T) {
	if !new(journal.Step).Empty() {
		t.Fatal("a step with nothing in it is not empty")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[journal.Step]()) {
		first, second := one(field), one(field)
		if first.Empty() {
			t.Errorf("a step with %s is empty", field.Name)
		}
		first.Append(second)
		got := reflect.ValueOf(first).Elem().FieldByIndex(field.Index)
		switch field.Type.Kind() {
		case reflect.Slice:
			if got.Len() != 2 {
				t.Errorf("%s: %d of both steps, want 2", field.Name, got.Len())
			}
		default:
			if want := reflect.ValueOf(second).Elem().FieldByIndex(field.Index); got.Pointer() != want.Pointer() {
				t.Errorf("%s is not that of the later step", field.Name)
			}
		}
	}
}

// one is a step with one field that is not empty.
func one(field reflect.StructField) *journal.Step {
	s := new(journal.Step)
	v := reflect.ValueOf(s).Elem().FieldByIndex(field.Index)
	if field.Type.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(field.Type, 1, 1))
	} else {
		v.Set(reflect.New(field.Type.Elem()))
	}
	return s
}
