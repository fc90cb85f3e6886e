package simulated

import (
	"encoding/json"
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// sentinels are the errors that an answer can wrap; snapshots refer to them by index.
var sentinels = []error{
	hypervisor.ErrUnreachable, hypervisor.ErrTimeout, hypervisor.ErrNoSuchVM, hypervisor.ErrExists,
	hypervisor.ErrNoSpace, hypervisor.ErrNoMemory, hypervisor.ErrBadImage, hypervisor.ErrLocked,
	hypervisor.ErrRefused, cluster.ErrNotFound, hypervisor.ErrNoImage,
}

// failure is the error of an answer. It can be stored in a snapshot.
type failure struct {
	kind error
	text string
}

// newFailure returns a failure.
func newFailure(kind error, format string, args ...any) *failure {
	return &failure{kind, fmt.Sprintf(format, args...)}
}

// Error returns the text, then that of the sentinel.
func (f *failure) Error() string { return f.text + ": " + f.kind.Error() }

// Unwrap returns the sentinel.
func (f *failure) Unwrap() error { return f.kind }

// err returns the failure as an error; nil for a nil failure.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return f
}

type failureJSON struct {
	Kind int    `json:"kind"`
	Text string `json:"text"`
}

// MarshalJSON writes the sentinel as a number.
func (f *failure) MarshalJSON() ([]byte, error) {
	for i, s := range sentinels {
		if errors.Is(f.kind, s) {
			return json.Marshal(failureJSON{i, f.text})
		}
	}
	return nil, fmt.Errorf("simulated: error without a sentinel: %s", f.text)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *failure) UnmarshalJSON(b []byte) error {
	var j failureJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Kind < 0 || j.Kind >= len(sentinels) {
		return cluster.BadField("kind", j.Kind, "a known kind of error")
	}
	f.kind, f.text = sentinels[j.Kind], j.Text
	return nil
}

// refuse is the failure of a call that is refused.
func refuse(op *operation, why string) *failure {
	return newFailure(hypervisor.ErrRefused, "%s %s on %s: %s", op.Call.Verb, op.Call.VM, op.Call.Node, why)
}

// locked is the failure of a call that a lock on another node prevents.
func locked(op *operation, holder *machine) *failure {
	return newFailure(hypervisor.ErrLocked, "%s %s on %s: resource busy: held on %s",
		op.Call.Verb, op.Call.VM, op.Call.Node, holder.Node)
}
