package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"vjob/cluster"
)

// errClosed is what calls after Close get.
var errClosed = fmt.Errorf("the database is closed: %w", cluster.ErrUnavailable)

// explain translates an error of SQLite. A fault of the caller gets the sentinel that fits it.
// A fault of the disk or the file is ErrUnavailable, with a cause that an operator can act on.
func explain(err error) error {
	e, ofSQLite := errors.AsType[sqlite3.Error](err)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return cluster.ErrNotFound
	case errors.Is(err, sql.ErrConnDone):
		return errClosed
	case !ofSQLite:
		return err
	case e.ExtendedCode == sqlite3.ErrConstraintForeignKey:
		return fmt.Errorf("it refers to something unknown: %w", cluster.ErrNotFound)
	case e.ExtendedCode == sqlite3.ErrConstraintUnique, e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey:
		return fmt.Errorf("%w: %s", cluster.ErrConflict, e.Error())
	case e.Code == sqlite3.ErrConstraint:
		return fmt.Errorf("%w: %s", cluster.ErrInvalid, e.Error())
	case e.Code == sqlite3.ErrInterrupt:
		return context.Canceled
	}
	return fmt.Errorf("%w: %s: %w", cluster.ErrUnavailable, advice(e), err)
}

// advice names the fault that an operator should look at.
func advice(e sqlite3.Error) string {
	switch e.Code {
	case sqlite3.ErrFull:
		return "the disk of the database is full"
	case sqlite3.ErrIoErr:
		return "the disk of the database has failed"
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return "another program holds the database"
	case sqlite3.ErrCorrupt:
		return "the database is damaged; restore a backup"
	case sqlite3.ErrNotADB:
		return "the file is not a database"
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return "the database cannot be written"
	case sqlite3.ErrCantOpen:
		return "the database cannot be opened"
	default:
		return "the database failed"
	}
}
