package libvirt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/internal/fileio"
)

// markerName is the marker in each node's folder of the image store: a file with the id of the
// installation. In a folder without it, the right file system is not mounted; images that are
// missing there are not gone.
const markerName = ".vjob-store"

// maxMarker bounds how many bytes of a marker are read.
const maxMarker = 256

// folder opens the folder of a node, if it is marked as this installation's. Operations through
// it stay in that folder, whatever is mounted or unmounted meanwhile.
func (s *imageStore) folder(node cluster.NodeID) (*os.Root, error) {
	dir := s.nodeDir(node)
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noFolder(dir, "is missing: mount its file system; if the store is new, make it with vjobd init-store")
	}
	if err != nil {
		return nil, fmt.Errorf("image folder %s: %w: %w", dir, hypervisor.ErrNoImage, err)
	}
	id, err := readMarker(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = noFolder(dir, unmarkedHint(root))
	case err != nil:
		err = fmt.Errorf("image folder %s: %w: %w", dir, hypervisor.ErrNoImage, err)
	case id != s.installation:
		err = noFolder(dir, fmt.Sprintf("is marked by installation %q, this one is %q: mount the right file system, or take the folder over with vjobd init-store --adopt",
			id, s.installation))
	default:
		return root, nil
	}
	return nil, errors.Join(err, root.Close())
}

// entries lists the folder of a node.
func (s *imageStore) entries(node cluster.NodeID) ([]fs.DirEntry, error) {
	root, err := s.folder(node)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	return entries, errors.Join(err, root.Close())
}

// noFolder is the error for a folder that cannot be used; fault says why and what to do.
func noFolder(dir, fault string) error {
	return fmt.Errorf("%w: image folder %s %s", hypervisor.ErrNoImage, dir, fault)
}

// unmarkedHint is the fault of a folder without a marker, and what to do.
func unmarkedHint(root *os.Root) string {
	if n, _ := countImages(root); n > 0 {
		return fmt.Sprintf("holds %s and no marker %s, as an older vjob left it: mark it with vjobd init-store", cluster.Count(n, "image"), markerName)
	}
	return fmt.Sprintf("has no marker %s: mount its file system; if the store is new, mark it with vjobd init-store", markerName)
}

// readMarker returns the id of the installation to which a folder belongs.
func readMarker(root *os.Root) (string, error) {
	f, err := root.Open(markerName)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(f, maxMarker))
	return strings.TrimSpace(string(text)), err
}

func countImages(root *os.Root) (n int, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if _, isNote, ok := imageOwner(e.Name()); ok && !isNote {
			n++
		}
	}
	return n, err
}

// syncRoot makes the names in a folder durable.
func syncRoot(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", root.Name(), err)
	}
	return nil
}

// StoreFolder is a node's folder of the image store after [InitStore].
type StoreFolder struct {
	Node   cluster.NodeID
	Path   string
	Images int
	Result string // "made", "marked", "adopted", or "was marked"
}

// InitStore creates the folders of the nodes in the image store and marks them as the
// installation's, durably. It may be repeated. A folder of another installation is ErrConflict,
// and nothing is changed, unless adopt is set: then it is taken over.
func InitStore(ctx context.Context, c Config, adopt bool) ([]StoreFolder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := imageStore{dir: c.ImageDir, installation: c.Installation}
	if err := s.open(); err != nil {
		return nil, err
	}
	folders := make([]StoreFolder, len(c.Hosts))
	for i, h := range c.Hosts {
		var err error
		if folders[i], err = s.inspectFolder(h.Node, adopt); err != nil {
			return nil, err
		}
	}
	for _, f := range folders {
		if f.Result == "was marked" {
			continue
		}
		if err := s.writeMarker(ctx, f); err != nil {
			return nil, err
		}
	}
	return folders, fileio.SyncDir(s.dir)
}

// inspectFolder returns what InitStore has to do with the folder of a node.
func (s *imageStore) inspectFolder(node cluster.NodeID, adopt bool) (StoreFolder, error) {
	f := StoreFolder{Node: node, Path: s.nodeDir(node), Result: "made"}
	root, err := os.OpenRoot(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("image folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // read only
	if f.Images, err = countImages(root); err != nil {
		return f, fmt.Errorf("image folder: %w", err)
	}
	switch id, err := readMarker(root); {
	case errors.Is(err, fs.ErrNotExist):
		f.Result = "marked"
	case err != nil:
		return f, fmt.Errorf("image folder: %w", err)
	case id == s.installation:
		f.Result = "was marked"
	case !adopt:
		return f, fmt.Errorf("image folder %s belongs to installation %q and holds %d images: choose another image_dir, or take it over with --adopt: %w",
			f.Path, id, f.Images, cluster.ErrConflict)
	default:
		f.Result = "adopted"
	}
	return f, nil
}

// writeMarker marks a folder, which it creates if missing.
func (s *imageStore) writeMarker(ctx context.Context, f StoreFolder) error {
	if err := os.Mkdir(f.Path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("image folder: %w", err)
	}
	return writeFileDurably(ctx, filepath.Join(f.Path, markerName), []byte(s.installation+"\n"))
}
