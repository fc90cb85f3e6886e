package wire

import "time"

// Orphan is a saved VM of no suspended vjob, GET /v1/images/orphans (administrators).
type Orphan struct {
	Image      string     `json:"image"` // "12.3.g2.a1"
	VJob       int64      `json:"vjob"`
	Owner      string     `json:"owner,omitempty"` // "" where the vjob is not known
	Generation int        `json:"generation"`
	Node       string     `json:"node"`
	Bytes      int64      `json:"bytes"`
	Complete   bool       `json:"complete"`
	Written    *time.Time `json:"written,omitempty"`
	Why        string     `json:"why"`
	Until      *time.Time `json:"until,omitempty"` // when it is deleted; without, it stays until an administrator deletes it
	Restorable bool       `json:"restorable"`      // the vjob can be restored from the generation
}

// OrphanList is the answer to GET /v1/images/orphans.
type OrphanList struct {
	Orphans []Orphan `json:"orphans"`
}

// RestoreOrder is the body of POST /v1/vjobs/{id}/restore (administrators).
type RestoreOrder struct {
	Generation int `json:"generation,omitempty"` // of the images; 0 is the newest of which all are there
}

// Refusal is a node on which a VM could not be created.
type Refusal struct {
	VM   string    `json:"vm"`
	Node string    `json:"node"`
	At   time.Time `json:"at"`
	Why  string    `json:"why"`
}
