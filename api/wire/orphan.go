package wire

import "time"

// Orphan is a saved VM of no suspended vjob, GET /v1/images/orphans (administrators).
type Orphan struct {
	Image      string     `json:"image"`             // "12.3.g2.a1"
	VJob       int64      `json:"vjob"`              // the number of the vjob of which it is a VM
	Owner      string     `json:"owner,omitempty"`   // "" where the vjob is not known
	Generation int        `json:"generation"`        // of the suspension in which it was saved
	Node       string     `json:"node"`              // on which it is stored
	Bytes      int64      `json:"bytes"`             // its size
	Complete   bool       `json:"complete"`          // it is whole
	Written    *time.Time `json:"written,omitempty"` // when it was saved
	Why        string     `json:"why"`               // the reason for which it is kept
	Until      *time.Time `json:"until,omitempty"`   // when it is deleted; without, it stays until an administrator deletes it
	Restorable bool       `json:"restorable"`        // the vjob can be restored from the generation
}

// OrphanList is the answer to GET /v1/images/orphans.
type OrphanList struct {
	Orphans []Orphan `json:"orphans"` // all that are kept
}

// RestoreOrder is the body of POST /v1/vjobs/{id}/restore (administrators).
type RestoreOrder struct {
	Generation int `json:"generation,omitempty"` // of the images; 0 is the newest of which all are there
}

// Refusal is a node on which a VM could not be created.
type Refusal struct {
	VM   string    `json:"vm"`   // such as 12.3
	Node string    `json:"node"` // its name
	At   time.Time `json:"at"`   // when it was tried
	Why  string    `json:"why"`  // the reason of the hypervisor
}
