package admin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func adminCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "look after the daemon (administrators)",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(reloadCommand(a), doctorCommand(a), backupCommand(a))
	return cmd
}

func backupCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "write a consistent copy of the database while work goes on",
		Long: `Writes a copy of the daemon's database, an SQLite file, to FILE, which must not exist. When
the command succeeds the copy is whole and on disk. It holds the hashes of tokens and what all
users have submitted: only you may read it.`,
		Args: cli.Arguments(1, "the file to write"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			// Looked at first, so that no copy is made in vain.
			if _, err := os.Lstat(path); err == nil {
				return fileExists(path)
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			copied, size, err := c.Backup(cmd.Context())
			if err != nil {
				return err
			}
			defer copied.Close()
			if err := keep(path, copied); err != nil {
				return fmt.Errorf("back-up to %s: %w", path, err)
			}
			return say(a, map[string]any{"file": path, "size_bytes": size}, "%s: %d bytes\n", display.Clean(path), size)
		},
	}
}

func fileExists(path string) error {
	return fmt.Errorf("%s: the file exists; want another name: %w", path, cluster.ErrConflict)
}

// keep writes a new file and returns when it is on disk. It is written beside its
// place, so that a file of the final name is always whole.
func keep(path string, from io.Reader) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link replaces nothing.
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return fileExists(path)
	} else if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
