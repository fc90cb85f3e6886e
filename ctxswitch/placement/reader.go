package placement

import (
	"sync"

	"vjob/cluster"
)

// Reader remembers which rules can be kept on the nodes of a cluster, so that those of a
// long queue are compiled once. The nodes are always the same ones. Several goroutines may use it.
type Reader struct {
	wrong sync.Map // errors by statement
}

// statement is a text, and whether it belongs to a vjob; which vjob makes no difference.
type statement struct {
	own  bool
	text string
}

// NewReader makes a reader that has read nothing.
func NewReader() *Reader { return &Reader{} }

// Wrong says why rules cannot be kept that were once accepted: they name nodes that are
// no longer there. Nil: they can.
func (r *Reader) Wrong(rules Rules, nodes []cluster.Node) error {
	key := statement{own: rules.VJob != 0, text: rules.Text}
	if known, read := r.wrong.Load(key); read {
		err, _ := known.(error)
		return err
	}
	_, err := rules.Compile(NewIndex(nodes, nil))
	r.wrong.Store(key, err)
	return err
}
