package libvirt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"vjob/cluster"
	"vjob/hypervisor"
)

// imageStore is the directory of saved VMs, with one directory for each node:
//
//	h1/12.3.g1.a1      the image that h1 saved
//	h1/12.3.g1.a1.r4   a hard link: the name by which attempt 4 restores it
//	h1/12.3.g1.a1.x4   empty: attempts up to 4 are revoked
//	h1/12.3.g1.a1.s8f… empty: the image was sealed with this SHA-256
//
// It keeps no state in memory, so what it promises holds across restarts; and what
// it notes are names of empty files, for which a full disk has room.
type imageStore struct {
	dir   string
	nodes []cluster.NodeID
}

// errRevoked: the attempt to restore was called off before.
var errRevoked = fmt.Errorf("this attempt to restore is revoked: %w", hypervisor.ErrRefused)

// open makes the directories of the nodes; the directory of the store itself must
// be there, since making it could hide a file system that is not mounted.
func (s *imageStore) open() error {
	if _, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("image directory: %w", err)
	}
	for _, node := range s.nodes {
		if err := os.Mkdir(s.nodeDir(node), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("image directory of node %s: %w", node, err)
		}
	}
	return nil
}

func (s *imageStore) nodeDir(node cluster.NodeID) string { return filepath.Join(s.dir, string(node)) }

func (s *imageStore) path(node cluster.NodeID, id hypervisor.ImageID) string {
	return filepath.Join(s.nodeDir(node), id.String())
}

func linkPath(image string, attempt int) string { return image + ".r" + strconv.Itoa(attempt) }

// find returns where an image lies, or fs.ErrNotExist.
func (s *imageStore) find(id hypervisor.ImageID) (string, error) {
	for _, node := range s.nodes {
		path := s.path(node, id)
		_, err := os.Stat(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("image %s: %w", id, fs.ErrNotExist)
}

// list reads the whole store. A directory that cannot be read is an error: images
// that nobody can see now are not images that are gone.
func (s *imageStore) list() (hypervisor.Store, error) {
	store := hypervisor.Store{Free: map[cluster.NodeID]hypervisor.Space{}}
	for _, node := range s.nodes {
		images, err := s.listNode(node)
		if err != nil {
			return hypervisor.Store{}, err
		}
		store.Images = append(store.Images, images...)
		space, err := freeSpace(s.nodeDir(node))
		if err != nil {
			return hypervisor.Store{}, err
		}
		store.Free[node] = space
	}
	slices.SortFunc(store.Images, func(a, b hypervisor.Image) int {
		return cmp.Or(a.ID.VM.Compare(b.ID.VM), cmp.Compare(a.ID.Generation, b.ID.Generation),
			cmp.Compare(a.ID.Attempt, b.ID.Attempt), cmp.Compare(a.Node, b.Node))
	})
	return store, nil
}

func (s *imageStore) listNode(node cluster.NodeID) ([]hypervisor.Image, error) {
	entries, err := os.ReadDir(s.nodeDir(node))
	if err != nil {
		return nil, fmt.Errorf("image directory of node %s: %w", node, err)
	}
	var images []hypervisor.Image
	for _, e := range entries {
		id, err := hypervisor.ParseImageID(e.Name())
		if err != nil || id.String() != e.Name() {
			continue
		}
		head, size, err := readHeader(s.path(node, id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // discarded since the listing
		}
		if err != nil {
			return nil, fmt.Errorf("image %s on %s: %w", id, node, err)
		}
		images = append(images, hypervisor.Image{ID: id, Node: node, Bytes: size, Complete: head.complete(size)})
	}
	return images, nil
}

func freeSpace(dir string) (hypervisor.Space, error) {
	var fsys syscall.Statfs_t
	if err := syscall.Statfs(dir, &fsys); err != nil {
		return hypervisor.Space{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	var file syscall.Stat_t
	if err := syscall.Stat(dir, &file); err != nil {
		return hypervisor.Space{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return hypervisor.Space{
		Pool: fmt.Sprintf("dev-%x", file.Dev),
		Free: cluster.MiB(fsys.Bavail * uint64(fsys.Bsize) >> 20),
	}, nil
}

// seal makes an image and its checksum durable, and returns its size and checksum.
// libvirt syncs the memory of the guest but neither the final header nor the
// directory. An image that was sealed before is verified.
func (s *imageStore) seal(ctx context.Context, id hypervisor.ImageID) (hypervisor.Receipt, error) {
	path, err := s.find(id)
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	defer f.Close() //nolint:errcheck // read only
	head, size, err := headerOf(f)
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	if !head.complete(size) {
		return hypervisor.Receipt{}, badImage(id, errors.New("the save did not finish"))
	}
	if err := f.Sync(); err != nil {
		return hypervisor.Receipt{}, fmt.Errorf("sync image %s: %w", id, err)
	}
	sum, err := checksum(ctx, f)
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	before, err := notes(path, 's')
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	for _, was := range before {
		if was != sum {
			return hypervisor.Receipt{}, badImage(id, fmt.Errorf("its checksum is %s, and it was sealed with %s", sum, was))
		}
	}
	if err := note(path, 's', sum); err != nil {
		return hypervisor.Receipt{}, err
	}
	return hypervisor.Receipt{Bytes: size, Checksum: checksumPrefix + sum}, syncDir(filepath.Dir(path))
}

// verify reads a whole image and compares it with what was sealed; it returns the
// image's path. Restoring would notice neither changed memory nor a lost end.
func (s *imageStore) verify(ctx context.Context, id hypervisor.ImageID, want string) (string, error) {
	path, err := s.find(id)
	if err != nil {
		return "", noImage(id, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", noImage(id, err)
	}
	defer f.Close() //nolint:errcheck // read only
	sum, err := checksum(ctx, f)
	if err != nil {
		return "", noImage(id, err)
	}
	if checksumPrefix+sum != want {
		return "", badImage(id, fmt.Errorf("its checksum is %s%s, and %s was sealed", checksumPrefix, sum, want))
	}
	return path, nil
}

// license gives an image the name by which one attempt may restore it. Without
// that name libvirt finds no file, however late a call reaches it.
func (s *imageStore) license(path string, attempt int) (string, error) {
	if upTo, err := revoked(path); err != nil || upTo >= attempt {
		return "", cmp.Or(err, errRevoked)
	}
	link := linkPath(path, attempt)
	if err := os.Link(path, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %w", hypervisor.ErrNoImage, err)
	}
	// Only now does the answer count: revoke first writes its mark and then removes
	// links, so that one of us two sees the other.
	if upTo, err := revoked(path); err != nil || upTo >= attempt {
		return "", cmp.Or(err, remove(link), errRevoked)
	}
	return link, nil
}

// revoke takes away the names of all attempts up to one, for ever.
func (s *imageStore) revoke(id hypervisor.ImageID, attempt int) error {
	for _, node := range s.nodes {
		path := s.path(node, id)
		if _, err := os.Stat(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // without the image no attempt can get a name
			}
			return fmt.Errorf("revoke image %s: %w", id, err)
		}
		if err := note(path, 'x', strconv.Itoa(attempt)); err != nil {
			return err
		}
	}
	return s.removeNotes(id, func(kind byte, value string) bool {
		n, err := strconv.Atoi(value)
		return kind == 'r' && err == nil && n <= attempt
	})
}

// discard removes an image with all its names and notes.
func (s *imageStore) discard(id hypervisor.ImageID) error {
	for _, node := range s.nodes {
		if err := remove(s.path(node, id)); err != nil {
			return fmt.Errorf("discard image %s: %w", id, err)
		}
	}
	return s.removeNotes(id, func(byte, string) bool { return true })
}

// note writes a note beside an image: an empty file, which takes no block.
func note(path string, kind byte, value string) error {
	f, err := os.OpenFile(path+"."+string(kind)+value, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("note beside image: %w", err)
	}
	return nil
}

// notes lists the values of the notes of one kind beside an image.
func notes(path string, kind byte) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var values []string
	for _, e := range entries {
		if k, value, ok := suffix(e.Name(), filepath.Base(path)); ok && k == kind {
			values = append(values, value)
		}
	}
	return values, nil
}

// removeNotes removes the notes and links beside an image that are chosen, and
// makes that durable.
func (s *imageStore) removeNotes(id hypervisor.ImageID, chosen func(kind byte, value string) bool) error {
	for _, node := range s.nodes {
		dir := s.nodeDir(node)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("image %s: %w", id, err)
		}
		for _, e := range entries {
			kind, value, ok := suffix(e.Name(), id.String())
			if !ok || !chosen(kind, value) {
				continue
			}
			if err := remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("image %s: %w", id, err)
			}
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// suffix splits ".r4", ".x4" or ".s8f…" from the name of an image.
func suffix(name, image string) (kind byte, value string, ok bool) {
	rest, ok := strings.CutPrefix(name, image+".")
	if !ok || len(rest) < 2 || !strings.Contains("rxs", rest[:1]) {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}

// revoked is the highest attempt that was revoked for the image at path, or -1.
func revoked(path string) (int, error) {
	values, err := notes(path, 'x')
	if err != nil {
		return 0, err
	}
	highest := -1
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil {
			highest = max(highest, n)
		}
	}
	return highest, nil
}

// badImage is an image that is lost, and why.
func badImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w: %w", id, hypervisor.ErrBadImage, why)
}

// noImage is an image that cannot be read now, and why.
func noImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w: %w", id, hypervisor.ErrNoImage, why)
}

// checksumPrefix tells how a checksum was computed.
const checksumPrefix = "sha256:"

// checksum reads a file from its beginning; it ends early with the context.
func checksum(ctx context.Context, f io.ReadSeeker) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, untilDone{ctx.Err, f}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// untilDone is a reader that fails once done does.
type untilDone struct {
	done func() error
	io.Reader
}

func (r untilDone) Read(b []byte) (int, error) {
	if err := r.done(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// remove removes a file; one that is gone already is fine.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
