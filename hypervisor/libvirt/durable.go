package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vjob/internal/fileio"
)

// writeFileDurably writes a file atomically and makes it survive a power cut. It replaces an
// existing file.
func writeFileDurably(ctx context.Context, path string, content []byte) error {
	return durably(ctx, path, content, os.Rename)
}

// createFileDurably is writeFileDurably without replacement: an existing file stays as it is,
// however long the call hangs in its file system.
func createFileDurably(ctx context.Context, path string, content []byte) error {
	return durably(ctx, path, content, func(from, to string) error {
		if err := os.Link(from, to); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// durably writes content to a temporary file and gives it its name with publish, unless the
// context has ended by then.
func durably(ctx context.Context, path string, content []byte, publish func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // after a rename there is nothing to remove
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	closing := f.Close()
	if err == nil {
		err = closing
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = publish(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return fileio.SyncDir(filepath.Dir(path))
}
