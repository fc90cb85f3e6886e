package wire

import (
	"encoding/json"
	"strconv"
)

// VJobName names a vjob in a request: by its number, or by a text: its name, or its place in an array such as sweep[3].
type VJobName string

// JSONForms returns a value of each type by which it may be written.
func (VJobName) JSONForms() []any { return []any{0, ""} }

// MarshalJSON writes a number as such.
func (n VJobName) MarshalJSON() ([]byte, error) {
	if id, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return strconv.AppendInt(nil, id, 10), nil
	}
	return json.Marshal(string(n))
}

// UnmarshalJSON reads a number or a text.
func (n *VJobName) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(n))
	}
	var id int64
	if err := json.Unmarshal(data, &id); err != nil {
		return err
	}
	*n = VJobName(strconv.FormatInt(id, 10))
	return nil
}
