package oar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ignoredKeys are options of oarsub without effect here: there are no job keys.
var ignoredKeys = []string{"use_job_key", "import_job_key_from_file", "import_job_key_inline", "import_job_key_inline_priv", "export_job_key_to_file"}

// ReadSubmission reads the body of a submission. Keys may be written with - or _, and after is an
// alias of anterior. ignored lists the keys that have no effect here. Unknown and repeated keys are
// errors.
func ReadSubmission(data []byte) (s Submission, ignored []string, err error) {
	seen := map[string]bool{}
	err = members(data, func(key string, value json.RawMessage) error {
		name := strings.ReplaceAll(key, "-", "_")
		if name == "after" {
			name = "anterior"
		}
		if seen[name] {
			return fmt.Errorf("%.40q says again what another key says", key)
		}
		seen[name] = true
		if slices.Contains(ignoredKeys, name) {
			ignored = append(ignored, key)
			return nil
		}
		return s.set(name, value)
	})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the object has no end")
	}
	slices.Sort(ignored)
	return s, ignored, err
}

// members calls each for the members of an object; the object must be all of data.
func members(data []byte, each func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("this is no object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := each(fmt.Sprint(key), value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something stands behind the object")
	}
	return nil
}

// set sets one member by its name.
func (s *Submission) set(name string, value json.RawMessage) error {
	if name != strings.ToLower(name) { // encoding/json ignores case
		return fmt.Errorf("unknown field %.40q", name)
	}
	one, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(bytes.NewReader(one))
	d.DisallowUnknownFields()
	err = d.Decode(s)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("%s is the wrong kind, %s: want a text", name, kind.Value)
	case strings.Contains(err.Error(), "unknown field"):
		return fmt.Errorf("unknown field %.40q", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}
