// Package disk is a model of a disk that loses power: it keeps what was synced, and of
// the rest anything that its profile allows.
//
// A log of operations is played into it, and a cut at any operation gives the files
// that a machine could find when it starts again. Every choice is drawn from a source
// that the caller seeds, so that the same seed gives the same files.
//
// In both profiles a file is a row of sectors of 512 bytes. The disk holds of each
// sector what the page cache held of it at some moment since the last sync of the
// file; sectors are independent of each other, so that writes are lost, reordered and
// torn. The size is independent of the sectors.
//
// Adversarial is what POSIX permits. The sync of a file makes its content and its size
// durable, not its name. Names become durable when their folder is synced; until then
// each change of a name (create, link, unlink, rename) is on the disk or not,
// independently of all others; a rename is atomic. Space within a new size that no
// write has reached holds old bytes of other files.
//
// Ordered is ext4 with data=ordered. Changes of names are in one journal: the disk has
// them up to some moment, and any sync makes all before it durable. When a file has
// grown on the disk, the content of the new part is there: it is written before the
// size. Overwritten sectors come in any order, as above. It is harsher than ext4 in one
// respect: the size that a truncation leaves becomes durable with the file only.
package disk
