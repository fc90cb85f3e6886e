package wire

import "time"

// Alarm is a condition that needs an administrator.
type Alarm struct {
	ID     int64      `json:"id"`              // its number
	Kind   string     `json:"kind"`            // such as node-silent; docs/reference/alarms.md lists the kinds
	Object string     `json:"object"`          // "node n3", "vjob 7", "VM 7.1 on n3", "cluster"
	VJob   int64      `json:"vjob,omitempty"`  // the vjob that it is about
	VM     string     `json:"vm,omitempty"`    // the VM that it is about
	Node   string     `json:"node,omitempty"`  // the node that it is about
	Text   string     `json:"text"`            // the condition in words
	Next   string     `json:"next"`            // what to do: a command, or where to look
	Since  time.Time  `json:"since"`           // when it was raised last
	Count  int        `json:"count"`           // how often it was raised, with at most an hour between an end and the next time
	Ended  *time.Time `json:"ended,omitempty"` // absent: the condition lasts

	AckedBy string     `json:"acked_by,omitempty"` // the administrator that acknowledged it
	AckedAt *time.Time `json:"acked_at,omitempty"` // when it was acknowledged
	Comment string     `json:"comment,omitempty"`  // of the administrator that acknowledged it
}

// AlarmList is the answer to GET /v1/alarms.
type AlarmList struct {
	Alarms []Alarm `json:"alarms"`         // the newest first
	Next   string  `json:"next,omitempty"` // the cursor of the following page; absent at the end
}

// Acknowledgement is the body of POST /v1/alarms/{id}/ack.
type Acknowledgement struct {
	Comment string `json:"comment,omitempty"` // one line, for other administrators
}
