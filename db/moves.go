package db

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// moveModeOf changes the mode of moves of a vjob.
func (t *tx) moveModeOf(c *journal.MoveModeChange) error {
	n, err := t.change("UPDATE vjobs SET moves = ? WHERE id = ?", c.Moves.String(), int64(c.ID))
	if err == nil && n == 0 {
		err = notFound("moves of vjob", c.ID)
	}
	return err
}

// moveMode scans a mode of moves; "" is automatic.
type moveMode struct{ to *cluster.MoveMode }

// Scan implements sql.Scanner.
func (m moveMode) Scan(value any) error {
	*m.to = cluster.MovesAutomatic
	switch text := value.(type) {
	case nil:
	case string:
		if text != "" {
			return m.to.UnmarshalText([]byte(text))
		}
	default:
		return fmt.Errorf("mode of moves: %T, want text", value)
	}
	return nil
}
