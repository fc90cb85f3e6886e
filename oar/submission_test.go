package oar_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"vjob/oar"
)

const submissionKeys = "anterior, array, checkpoint, columns, command, directory, hold, image, initial_request, interactive, mem, name, notify, " +
	"param_file, param_file_name, project, property, queue, reservation, resource, resubmit, rows, scanscript, script, signal, stderr, stdout, timezone, type, workdir"

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"command": "id", "param-file": "1\n", "after": 7, "use-job-key": true}`: `{"anterior":["7"],"command":"id","param_file":"1\n"}`,
		`{"resource": ["nodes=1", "core=2"], "array": "3", "hold": "yes"}`:        `{"resource":["nodes=1","core=2"],"array":3,"hold":true}`,
		`{}`:                                     `{}`,
		``:                                       `body: byte 0 (unexpected EOF), want one JSON object and nothing after it`,
		`null`:                                   `body: null is not an object`,
		`[]`:                                     `body: a list is not an object`,
		`{"command": "id"`:                       `body: byte 16 (unexpected EOF), want one JSON object and nothing after it`,
		`{"command": "id"} {}`:                   `body: byte 18 (invalid character '{' after top-level value), want one JSON object and nothing after it`,
		`{"command": "a", "command": "b"}`:       `command: a second value, want each field once`,
		`{"param-file": "a", "param_file": "b"}`: `param_file: a second value, want each option once`,
		`{"COMMAND": "a"}`:                       `COMMAND: an unknown field, want probably command, or one of ` + submissionKeys,
		`{"bogus": 1}`:                           `bogus: an unknown field, want one of ` + submissionKeys,
		`{"command": [1]}`:                       `command: a list is not text`,
		`{"hold": "perhaps"}`:                    `hold: "perhaps" is not true or false`,
		`{"resource": [{}]}`:                     `resource: a list is not text or a number`,
	} {
		s, _, err := oar.ReadSubmission([]byte(text))
		got, _ := json.Marshal(s) //nolint:errchkjson // it has no cycles
		if err != nil {
			got = []byte(err.Error())
		}
		var same [2]any
		if json.Unmarshal(got, &same[0]) != nil || json.Unmarshal([]byte(want), &same[1]) != nil {
			same = [2]any{string(got), want}
		}
		if !reflect.DeepEqual(same[0], same[1]) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// Errors quote only the beginning of long input.
func TestErrorsAreShort(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for _, key := range []string{"hold", "array", "signal", "scanscript", "resource", "anterior", long[1 : len(long)-1]} {
		for _, value := range []string{long, "[" + long + "]", `{"a":` + long + `}`, "[[" + long + "]]"} {
			if _, _, err := oar.ReadSubmission([]byte(`{"` + key + `":` + value + `}`)); err != nil && len(err.Error()) > 400 {
				t.Errorf("%.20s: %.5s: an error of %d bytes: %.60s", key, value, len(err.Error()), err)
			}
		}
	}
}

// A submission survives the round trip through JSON.
func FuzzRead(f *testing.F) {
	f.Add(`{"resource":["nodes=1"],"command":"id","array":3,"hold":true,"type":"besteffort"}`)
	f.Add(`{"after":[1,"2"],"param-file":"a\nb\n"}`)
	f.Add(`{"a":{"b":[`)
	f.Fuzz(func(t *testing.T, text string) {
		first, _, err := oar.ReadSubmission([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "Go ") {
				t.Fatalf("%q: an error for programmers: %v", text, err)
			}
			return
		}
		written, err := json.Marshal(&first)
		if err != nil {
			t.Fatal(err)
		}
		second, ignored, err := oar.ReadSubmission(written)
		if err != nil || len(ignored) > 0 || !reflect.DeepEqual(first, second) {
			t.Fatalf("%q: written as %s, which is read as %+v, %v", text, written, second, err)
		}
	})
}
