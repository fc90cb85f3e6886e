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
	"vjob/internal/fileio"
)

// imageStore is the directory of saved VMs, with one directory for each node:
//
//	h1/.vjob-store     the id of the installation: a folder without it is not ours
//	h1/12.3.g1.a1      the image that h1 saved
//	h1/12.3.g1.a1.r4   a hard link: the name by which attempt 4 restores it
//	h1/12.3.g1.a1.x4   empty: attempts up to 4 are revoked
//	h1/12.3.g1.a1.s8f… empty: the image was sealed with this SHA-256
//
// It keeps no state in memory but what it has read of images, so its guarantees hold across restarts. Its notes are the names
// of empty files, which fit on a full disk.
type imageStore struct {
	dir          string
	installation string // marks our folders
	nodes        []cluster.NodeID
	identify     func(description string) (identity, error) // see Config.identify
	known        *knownHardware                             // may be nil
}

// errRevoked is the error of an attempt to restore that was revoked before.
var errRevoked = fmt.Errorf("this attempt to restore is revoked: %w", hypervisor.ErrRefused)

// open checks that the directory of the store exists. It does not create it, since that could
// hide a file system that is not mounted. [InitStore] creates the folders of the nodes.
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

// find returns the path of an image, or fs.ErrNotExist if every folder was read and none has
// the image.
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

// checkUnused is ErrExists if an image has that name.
func (s *imageStore) checkUnused(id hypervisor.ImageID) error {
	switch _, err := s.find(id); {
	case err == nil:
		return fmt.Errorf("%w: image %s", hypervisor.ErrExists, id)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return noImage(id, err)
	}
}

// list reads the whole store. A folder that cannot be read, or is not ours, is an error: images
// that are invisible now may still exist.
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
		image, err := s.listImage(root, node, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // discarded since the listing
		}
		if err != nil {
			return nil, space, fmt.Errorf("image %s: %w", id, err)
		}
		images = append(images, image)
	}
	space, err = freeSpace(root.Name())
	return images, space, err
}

func (s *imageStore) listImage(root *os.Root, node cluster.NodeID, id hypervisor.ImageID) (hypervisor.Image, error) {
	head, info, err := readHeader(root, id.String())
	if err != nil {
		return hypervisor.Image{}, err
	}
	hardware, err := s.hardware(root, id, head, info)
	return hypervisor.Image{
		ID: id, Node: node, Bytes: info.Size(), Complete: head.complete(info.Size()), Written: info.ModTime(), Hardware: hardware,
	}, err
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

// seal makes an image and its checksum durable, and returns its size and checksum. libvirt
// syncs the memory of the guest but neither the final header nor the directory. An image that
// was sealed before is verified.
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
		// After the error the kernel treats the pages as written. The next attempt must not
		// read them from the page cache.
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
	if err := errors.Join(note(path, 's', sum), fileio.SyncDir(filepath.Dir(path))); err != nil {
		return hypervisor.Receipt{}, noImage(id, err)
	}
	return hypervisor.Receipt{
		Bytes: info.Size(), Checksum: checksumPrefix + sum, Incarnation: s.incarnation(f, head, id.VM),
	}, nil
}

// incarnation is the incarnation of the saved copy, from our mark in the image; 0 if there is no
// mark, or it is another VM's.
func (s *imageStore) incarnation(f *os.File, head header, vm cluster.VMID) int {
	text, err := descriptionOf(f, head)
	if err != nil {
		return 0
	}
	id, err := s.identify(text)
	if err != nil || id.mark.vm() != vm {
		return 0
	}
	return id.mark.Incarnation
}

// verify reads a whole image, compares it with the sealed checksum, and returns its path. A
// restore would notice neither changed memory nor a missing end.
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

// linkForAttempt links an image to the name by which one attempt may restore it. Without that
// name libvirt finds no file, however late a call arrives.
func (s *imageStore) linkForAttempt(path string, attempt int) (string, error) {
	if upTo, err := revoked(path); err != nil || upTo >= attempt {
		return "", cmp.Or(storeFault(err), errRevoked)
	}
	link := linkPath(path, attempt)
	if err := os.Link(path, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", storeFault(err)
	}
	// Only this check counts: revoke first writes its note and then removes links, so a
	// concurrent revoke sees this link, or this check sees its note.
	if upTo, err := revoked(path); err != nil || upTo >= attempt {
		return "", cmp.Or(storeFault(err), remove(link), errRevoked)
	}
	return link, nil
}

// revoke removes the links of all attempts up to one, for ever.
func (s *imageStore) revoke(id hypervisor.ImageID, attempt int) error {
	return s.forEachFolder(id, func(root *os.Root) error {
		_, err := root.Stat(id.String())
		switch {
		case errors.Is(err, fs.ErrNotExist): // without the image no attempt can get a link
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

// discard removes an image with its links and notes. The image is removed first, durably: an
// image that survives a power cut still needs its notes, which may revoke it. The folder is
// synced even if the image is missing: an interrupted discard may have removed it without that.
func (s *imageStore) discard(id hypervisor.ImageID) error {
	return s.forEachFolder(id, func(root *os.Root) error {
		if err := root.Remove(id.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := syncRoot(root); err != nil {
			return err
		}
		return removeNotes(root, id, func(byte, string) bool { return true })
	})
}

// forEachFolder changes the folder of every node. It opens all before it changes the first:
// the image may be in any of them.
func (s *imageStore) forEachFolder(id hypervisor.ImageID, change func(*os.Root) error) error {
	roots := make([]*os.Root, 0, len(s.nodes))
	defer func() {
		for _, root := range roots {
			_ = root.Close() // changes are synced
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

// badImage is the error for an image that is lost.
func badImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w: %w", id, hypervisor.ErrBadImage, why)
}

// noImage is the error for an image that cannot be read now.
func noImage(id hypervisor.ImageID, why error) error {
	return fmt.Errorf("image %s: %w", id, storeFault(why))
}

// storeFault wraps an error of the store: the store is full, or cannot be read now. Nil and
// errors that are wrapped already are returned unchanged.
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

// checksumPrefix names the hash function of a checksum.
const checksumPrefix = "sha256:"

// checksum hashes a file from its beginning. It ends early with the context.
func checksum(ctx context.Context, f io.ReadSeeker) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, contextReader{ctx.Err, f}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// contextReader is a reader that fails once its context has ended.
type contextReader struct {
	done func() error
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.done(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// remove removes a file; a missing file is no error.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
