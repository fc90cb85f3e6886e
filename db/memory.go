package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/mattn/go-sqlite3"
)

// memory is the source of a connection to an empty database in memory.
const memory = "file::memory:?" + memoryOptions

// OpenMemory opens an empty database in memory, with one connection, for simulations. It is gone after Close.
func OpenMemory() (*DB, error) {
	d := &DB{path: "in memory", reports: make(chan struct{}, 1)}
	if err := d.connect(context.Background(), memory, copySchema); err != nil {
		return nil, errors.Join(fmt.Errorf("database in memory: %w", err), d.Close())
	}
	return d, nil
}

// emptyFile is the file of a database without rows. A copy of it takes a twentieth of the time of
// the migrations, which would be a tenth of a short simulation.
var emptyFile = sync.OnceValues(func() (file []byte, err error) {
	ctx := context.Background()
	err = with(ctx, memory, func(conn *sql.Conn) error {
		if err := migrate(ctx, conn, "in memory", builtin()); err != nil {
			return err
		}
		return raw(conn, func(c *sqlite3.SQLiteConn) (err error) {
			file, err = c.Serialize("main")
			return err
		})
	})
	return file, err
})

// copySchema gives an empty database in memory the newest schema.
func copySchema(_ context.Context, conn *sql.Conn) error {
	file, err := emptyFile()
	if err != nil {
		return err
	}
	opened, err := new(sqlite3.SQLiteDriver).Open(":memory:")
	if err != nil {
		return err
	}
	from := opened.(*sqlite3.SQLiteConn) //nolint:forcetypeassert // the driver has no other
	defer from.Close()                   //nolint:errcheck // it was only read
	if err := from.Deserialize(file, "main"); err != nil {
		return err
	}
	return raw(conn, func(to *sqlite3.SQLiteConn) error {
		copying, err := to.Backup("main", from, "main")
		if err != nil {
			return err
		}
		_, err = copying.Step(-1)
		return errors.Join(err, copying.Finish())
	})
}

// raw calls a function with the driver's connection.
func raw(conn *sql.Conn, use func(*sqlite3.SQLiteConn) error) error {
	return conn.Raw(func(c any) error {
		return use(c.(*sqlite3.SQLiteConn)) //nolint:forcetypeassert // the driver has no other
	})
}
