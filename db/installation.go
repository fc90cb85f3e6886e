package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const selectInstallation = "SELECT id FROM installation"

// Installation returns the id of this installation: a UUID that was created with the database
// and that its backups keep.
func (d *DB) Installation(ctx context.Context) (id string, err error) {
	err = d.snapshot(ctx, func(r *snapshot) error { return r.one(selectInstallation, nil, &id) })
	if err != nil {
		return "", fmt.Errorf("id of the installation: %w", err)
	}
	return id, nil
}

// InstallationOf returns the id of the installation of a database, also while a daemon has it
// open. It creates a missing database and migrates an older one.
func InstallationOf(ctx context.Context, path string) (id string, err error) {
	err = with(ctx, dsn(path, readerOptions), func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, selectInstallation).Scan(&id)
	})
	if err == nil {
		return id, nil
	}
	d, err := Open(path)
	if err != nil {
		return "", err
	}
	id, err = d.Installation(ctx)
	return id, errors.Join(err, d.Close())
}
