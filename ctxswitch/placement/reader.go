package placement

import (
	"maps"

	"vjob/cluster"
)

// Reader remembers which rules can be kept on the nodes of a cluster, so that those of a
// long queue are compiled once. The nodes are always the same ones.
type Reader struct {
	wrong map[statement]error
}

// statement is a text, and whether it belongs to a vjob; which vjob makes no difference.
type statement struct {
	own  bool
	text string
}

// NewReader makes a reader that has read nothing.
func NewReader() *Reader { return &Reader{wrong: map[statement]error{}} }

// Clone returns a reader that has read the same. A nil reader has none.
func (r *Reader) Clone() *Reader {
	if r == nil {
		return nil
	}
	return &Reader{wrong: maps.Clone(r.wrong)}
}

// Wrong says why rules cannot be kept that were once accepted: they name nodes that are
// no longer there. Nil: they can.
func (r *Reader) Wrong(rules Rules, nodes []cluster.Node) error {
	key := statement{own: rules.VJob != 0, text: rules.Text}
	err, known := r.wrong[key]
	if !known {
		_, err = rules.Compile(NewIndex(nodes, nil))
		r.wrong[key] = err
	}
	return err
}
