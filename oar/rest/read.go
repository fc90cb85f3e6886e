package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// idle are the options of oarsub that mean nothing here, by their keys: there are no job
// keys.
var idle = []string{"use_job_key", "import_job_key_from_file", "import_job_key_inline", "import_job_key_inline_priv", "export_job_key_to_file"}

// Read reads the body of a submission. Words of a key may be joined by - as well as by _,
// and after is another word for anterior. Ignored are the keys that mean nothing here; a key
// that nobody knows is an error.
func Read(data []byte) (s Submission, ignored []string, err error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(data, &given); err != nil {
		return s, nil, err
	}
	read := make(map[string]json.RawMessage, len(given))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		name := strings.ReplaceAll(key, "-", "_")
		if name == "after" {
			name = "anterior"
		}
		if _, twice := read[name]; twice {
			return s, nil, fmt.Errorf("%q says again what another key says", key)
		}
		if slices.Contains(idle, name) {
			ignored = append(ignored, key)
			continue
		}
		read[name] = given[key]
	}
	if data, err = json.Marshal(read); err != nil {
		return s, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return s, ignored, d.Decode(&s)
}
