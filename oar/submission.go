package oar

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/internal/strictjson"
)

// ignoredKeys are options of oarsub without effect here: there are no job keys.
var ignoredKeys = []string{"use_job_key", "import_job_key_from_file", "import_job_key_inline", "import_job_key_inline_priv", "export_job_key_to_file"}

// ReadSubmission reads the body of a submission. Keys may be written with - or _, and after is an
// alias of anterior. ignored lists the keys that have no effect here. Unknown and repeated keys are
// errors, as all that [strictjson.Decode] refuses.
func ReadSubmission(data []byte) (s Submission, ignored []string, err error) {
	var given map[string]json.RawMessage
	if err := strictjson.Decode(data, &given); err != nil {
		return s, nil, err
	}
	if given == nil {
		return s, nil, cluster.Fault("body", "null is not an object")
	}
	options := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		name := strings.ReplaceAll(key, "-", "_")
		if name == "after" {
			name = "anterior"
		}
		if slices.Contains(ignoredKeys, name) {
			ignored = append(ignored, key)
			continue
		}
		if options[name] != nil {
			return s, nil, cluster.Fault(fieldpath.Join("", name), "a second value, want each option once")
		}
		options[name] = given[key]
	}
	canonical, err := json.Marshal(options)
	if err != nil {
		return s, nil, cluster.Fault("body", "%v", err)
	}
	return s, ignored, strictjson.Decode(canonical, &s)
}
