package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Profile is what a disk may do with what was not synced; see the package comment.
type Profile int

// The profiles.
const (
	Adversarial Profile = iota
	Ordered
)

// Profiles are all of them.
var Profiles = []Profile{Adversarial, Ordered}

func (p Profile) String() string { return [...]string{"adversarial", "ordered"}[p] }

// Disk has played a log up to some operation.
type Disk struct {
	log     *Log
	profile Profile
	at      int // how many operations were played
	inodes  []*inode
}

// inode is a file or a folder.
type inode struct {
	isFolder bool
	names    map[string]int // of a folder, durable
	data     []byte         // of a file, durable
	pending  []int          // operations since the last sync, in order
}

// New is an empty disk on which nothing of the log was played.
func New(log *Log, profile Profile) *Disk {
	return &Disk{log: log, profile: profile, inodes: []*inode{{isFolder: true, names: map[string]int{}}}}
}

// Cut plays a log up to an operation and returns what is left after a cut there.
func Cut(log *Log, instant int, profile Profile, random *rand.Rand) Tree {
	d := New(log, profile)
	d.Play(instant)
	return d.Cut(random)
}

// Play plays the log until n operations were played.
func (d *Disk) Play(n int) {
	for ; d.at < n; d.at++ {
		d.play(&d.log.Ops[d.at])
		if d.at+1 == d.log.Start {
			for _, n := range d.inodes {
				d.flush(n, d.log.Start)
			}
		}
	}
}

func (d *Disk) play(op *Op) {
	switch op.Kind {
	case Create:
		d.inodes = append(d.inodes, &inode{isFolder: op.IsFolder, names: map[string]int{}})
		d.wait(op.Folder)
	case Link, Unlink, Rename:
		d.wait(op.Folder)
	case Write, Truncate:
		d.wait(op.Inode)
	case Sync:
		d.flush(d.inodes[op.Inode], op.Since)
		if d.profile == Ordered {
			for _, n := range d.inodes {
				if n.isFolder {
					d.flush(n, op.Since)
				}
			}
		}
	case Mark:
	}
}

// wait notes that the present operation is not durable on an inode.
func (d *Disk) wait(inode int) { d.inodes[inode].pending = append(d.inodes[inode].pending, d.at) }

// flush makes durable what was done to an inode before an operation.
func (d *Disk) flush(n *inode, before int) {
	done, _ := slices.BinarySearch(n.pending, before)
	for _, i := range n.pending[:done] {
		op := &d.log.Ops[i]
		switch op.Kind {
		case Write:
			n.data = resize(n.data, max(int64(len(n.data)), op.end()))
			copy(n.data[op.Offset:], op.Data)
		case Truncate:
			n.data = resize(n.data, op.Offset)
		default:
			rename(n.names, op)
		}
	}
	n.pending = slices.Delete(n.pending, 0, done)
}

// end is the first byte behind a write, or the size that a truncation leaves.
func (op *Op) end() int64 { return op.Offset + int64(len(op.Data)) }

// resize returns data of a size; what is new is zero.
func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	old := int64(len(data))
	data = slices.Grow(data, int(size-old))[:size]
	clear(data[old:])
	return data
}

// rename applies a change of names.
func rename(names map[string]int, op *Op) {
	switch op.Kind {
	case Create, Link:
		names[op.Name] = op.Inode
	case Unlink:
		delete(names, op.Name)
	case Rename:
		if names[op.Name] == op.Inode {
			delete(names, op.Name)
		}
		names[op.To] = op.Inode
	default:
	}
}

// Tree is what is on a disk. The paths are relative to its root.
type Tree struct {
	Folders []string // each after the one that holds it
	Files   map[string][]byte
}

// Cut returns what is on the disk if the power fails now. The disk stays usable.
func (d *Disk) Cut(random *rand.Rand) Tree {
	c := newCut(d, random)
	tree := Tree{Files: map[string][]byte{}}
	files := map[int][]byte{} // an inode of two names has one content
	var walk func(folder int, path string)
	walk = func(folder int, path string) {
		names := c.names(d.inodes[folder])
		for _, name := range slices.Sorted(maps.Keys(names)) {
			id := names[name]
			if d.inodes[id].isFolder {
				tree.Folders = append(tree.Folders, path+name)
				walk(id, path+name+"/")
				continue
			}
			if _, known := files[id]; !known {
				files[id] = c.content(d.inodes[id])
			}
			tree.Files[path+name] = files[id]
		}
	}
	walk(Root, "")
	return tree
}
