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
	"syscall"

	"golang.org/x/sys/unix"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/internal/durable"
)

// imageStore is the directory of saved VMs, with one directory for each node:
//
//	h1/.vjob-store     the id of the installation: a folder without it is another one
//	h1/12.3.g1.a1      the image that h1 saved
//	h1/12.3.g1.a1.r4   a hard link: the name by which attempt 4 restores it
//	h1/12.3.g1.a1.x4   empty: attempts up to 4 are revoked
//	h1/12.3.g1.a1.s8f… empty: the image was sealed with this SHA-256
//
// It keeps no state in memory, so what it promises holds across restarts; and what
// it notes are names of empty files, for which a full disk has room.
type imageStore struct {
	dir          string
	installation string // marks our folders
	nodes        []cluster.NodeID
	identify     func(description string) (identity, error) // reads our mark in the description of a machine
}

// errRevoked: the attempt to restore was called off before.
var errRevoked = fmt.Errorf("this attempt to restore is revoked: %w", hypervisor.ErrRefused)

// open checks that there is a directory for the store. It makes none: that could hide a
// file system that is not mounted. [InitStore] makes those of the nodes.
func (s *imageStore) open() error {
	if s.installation == "" {
		return cluster.BadField("installation", "", "the id that marks the folders of the image store")
	}
	if _, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("image directory: %w", err)
	}
	return nil
}

func (s *imageStore) nodeDir(node cluster.NodeID) string { return filepath.Join(s.dir, string(node)) }

func (s *imageStore) path(node cluster.NodeID, id hypervisor.ImageID) string {
	return filepath.Join(s.nodeDir(node), id.String())
}

func linkPath(image string, attempt int) string { return image + ".r" + strconv.Itoa(attempt) }

// find returns where an image lies, or fs.ErrNotExist where every folder was seen and none
// has it.
func (s *imageStore) find(id hypervisor.ImageID) (string, error) {
	for _, node := range s.nodes {
		root, err := s.folder(node)
		if err != nil {
			return "", err
		}
		_, err = root.Stat(id.String())
		_ = root.Close() // read only
		if !errors.Is(err, fs.ErrNotExist) {
			return s.path(node, id), err
		}
	}
	return "", fmt.Errorf("image %s: %w", id, fs.ErrNotExist)
}

// unused makes sure that no image bears a name.
func (s *imageStore) unused(id hypervisor.ImageID) error {
	switch _, err := s.find(id); {
	case err == nil:
		return fmt.Errorf("%w: image %s", hypervisor.ErrExists, id)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return noImage(id, err)
	}
}

// list reads the whole store. A folder that cannot be read, or is not ours, is an error:
// images that cannot be seen now are not gone.
func (s *imageStore) list() (hypervisor.Store, error) {
	store := hypervisor.Store{Free: hypervisor.Spaces{}}
	for _, node := range s.nodes {
		images, space, err := s.listNode(node)
		if err != nil {
			return hypervisor.Store{}, storeFault(fmt.Errorf("image folder of node %s: %w", node, err))
		}
		store.Images = append(store.Images, images...)
		store.Free[node] = space
	}
	slices.SortFunc(store.Images, func(a, b hypervisor.Image) int {
		return cmp.Or(a.ID.VM.Compare(b.ID.VM), cmp.Compare(a.ID.Generation, b.ID.Generation),
			cmp.Compare(a.ID.Attempt, b.ID.Attempt), cmp.Compare(a.Node, b.Node))
	})
	return store, nil
}

func (s *imageStore) listNode(node cluster.NodeID) (images []hypervisor.Image, space hypervisor.Space, err error) {
	root, err := s.folder(node)
	if err != nil {
		return nil, space, err
	}
	defer root.Close() //nolint:errcheck // read only
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, space, err
	}
	for _, e := range entries {
		id, isNote, ok := imageOwner(e.Name())
		if !ok || isNote {
			continue
		}
		head, info, err := readHeader(root, e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // discarded since the listing
		}
		if err != nil {
			return nil, space, fmt.Errorf("image %s: %w", id, err)
		}
		images = append(images, hypervisor.Image{
			ID: id, Node: node, Bytes: info.Size(), Complete: head.complete(info.Size()), Written: info.ModTime(),
		})
	}
	space, err = freeSpace(root.Name())
	return images, space, err
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
	head, info, err := headerOf(f)
	if err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	if !head.complete(info.Size()) {
		return hypervisor.Receipt{}, badImage(id, errors.New("the save did not finish"))
	}
	if err := f.Sync(); err != nil {
		// From now on the kernel takes for written what it could not write. The next
		// attempt must not read that from memory.
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // best effort
		return hypervisor.Receipt{}, noImage(id, err)
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
	if err := errors.Join(note(path, 's', sum), durable.SyncDir(filepath.Dir(path))); err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	return hypervisor.Receipt{
		Bytes: info.Size(), Checksum: checksumPrefix + sum, Incarnation: s.incarnation(f, head, id.VM),
	}, nil
}

// incarnation is that of the copy that was saved, by our mark in the image; 0 if it is not
// there, or is another VM's.
func (s *imageStore) incarnation(f *os.File, head header, vm cluster.VMID) int {
	text, err := descriptionOf(f, head)
	if err != nil {
		return 0
	}
	who, err := s.identify(text)
	if err != nil || who.mark.vm() != vm {
		return 0
	}
	return who.mark.Incarnation
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
		return "", cmp.Or(storeFault(err), errRevoked)
	}
	link := linkPath(path, attempt)
	if err := os.Link(path, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", storeFault(err)
	}
	// Only now does the answer count: revoke first writes its mark and then removes
	// links, so that one of us two sees the other.
	if upTo, err := revoked(path); err != nil || upTo >= attempt {
		return "", cmp.Or(storeFault(err), remove(link), errRevoked)
	}
	return link, nil
}

// revoke takes away the names of all attempts up to one, for ever.
func (s *imageStore) revoke(id hypervisor.ImageID, attempt int) error {
	return s.inEach(id, func(root *os.Root) error {
		_, err := root.Stat(id.String())
		switch {
		case errors.Is(err, fs.ErrNotExist): // without the image no attempt can get a name
		case err != nil:
			return err
		default:
			if err := noteIn(root, id.String(), 'x', strconv.Itoa(attempt)); err != nil {
				return err
			}
		}
		return removeNotes(root, id, func(kind byte, value string) bool {
			n, err := strconv.Atoi(value)
			return kind == 'r' && err == nil && n <= attempt
		})
	})
}

// discard removes an image with all its names and notes. The image goes first, durably: by
// the notes of one that is left after a power cut it may be revoked. An image that is gone
// already may come back as well, if the discard that removed it was broken off.
func (s *imageStore) discard(id hypervisor.ImageID) error {
	return s.inEach(id, func(root *os.Root) error {
		if err := root.Remove(id.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := syncRoot(root); err != nil {
			return err
		}
		return removeNotes(root, id, func(byte, string) bool { return true })
	})
}

// inEach changes the folder of every node. All are opened before the first is changed: an
// image may lie in any.
func (s *imageStore) inEach(id hypervisor.ImageID, change func(*os.Root) error) error {
	roots := make([]*os.Root, 0, len(s.nodes))
	defer func() {
		for _, root := range roots {
			_ = root.Close() // what was changed is synced
		}
	}()
	for _, node := range s.nodes {
		root, err := s.folder(node)
		if err != nil {
			return noImage(id, err)
		}
		roots = append(roots, root)
	}
	for _, root := range roots {
		if err := change(root); err != nil {
			return noImage(id, err)
		}
	}
	return nil
}

// badImage is an image that is lost, and why.
func badImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w: %w", id, hypervisor.ErrBadImage, why)
}

// noImage is an image that cannot be read now, and why.
func noImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w", id, storeFault(why))
}

// storeFault says of an error of the store what it means: the store is full, or cannot be
// read now. Nil stays nil, and what has a meaning already keeps it.
func storeFault(err error) error {
	switch {
	case err == nil, errors.Is(err, hypervisor.ErrNoImage):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", hypervisor.ErrNoSpace, err)
	default:
		return fmt.Errorf("%w: %w", hypervisor.ErrNoImage, err)
	}
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
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
