package libvirt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A disk image of the catalogue is shared and never written. Each VM writes to an overlay: an
// empty qcow2 file with the image as its backing file. The driver writes its few kilobytes
// itself, so that hosts need no qemu-img.
const (
	qcowMagic       = 0x514649fb
	qcowClusterBits = 16
	qcowCluster     = 1 << qcowClusterBits
	qcowHeaderV3    = 104
	qcowBackingFmt  = 0xe2792aca // header extension: the format of the backing file

	// One cluster of the level 1 table describes 4 TiB.
	qcowMaxBytes = (qcowCluster / 8) * (qcowCluster / 8) * qcowCluster
)

var errNotQcow = errors.New("not a qcow2 image")

// qcowHeader is version 3 of the header, in the order of the file.
type qcowHeader struct {
	Magic, Version                       uint32
	BackingOffset                        uint64
	BackingLength, ClusterBits           uint32
	Size                                 uint64
	Crypt, L1Entries                     uint32
	L1Offset, RefTableOffset             uint64
	RefTableClusters, Snapshots          uint32
	SnapshotsOffset                      uint64
	Incompatible, Compatible, Autoclear  uint64
	RefcountOrder, HeaderLength          uint32
	ExtensionType, ExtensionLength       uint32 // first extension
	ExtensionData                        [8]byte
	EndOfExtensions, EndOfExtensionsSize uint32
}

// diskSize is the size of a disk image as the guest sees it, in bytes.
func diskSize(path, format string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("disk image: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	if format == "raw" {
		size, err := f.Seek(0, io.SeekEnd) // also right for a block device
		if err != nil {
			return 0, fmt.Errorf("disk image %s: %w", path, err)
		}
		return size, nil
	}
	var head struct {
		Magic, Version uint32
		_              [16]byte
		Size           uint64
	}
	err = binary.Read(f, binary.BigEndian, &head)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && head.Magic != qcowMagic:
		return 0, fmt.Errorf("disk image %s: %w", path, errNotQcow)
	case err != nil:
		return 0, fmt.Errorf("disk image %s: %w", path, err)
	}
	return int64(head.Size), nil
}

// createOverlay creates an empty overlay over a disk image and makes it durable. An existing
// file stays as it is: a guest may write to it.
func createOverlay(ctx context.Context, path, backing, format string) error {
	size, err := diskSize(backing, format)
	if err != nil {
		return err
	}
	if size <= 0 || size > qcowMaxBytes || len(backing) > 1023 {
		return fmt.Errorf("disk image %s of %d bytes: %w", backing, size, errNotQcow)
	}
	// Clusters: header, refcount table, refcount block, level 1 table.
	head := qcowHeader{
		Magic: qcowMagic, Version: 3,
		BackingLength: uint32(len(backing)), ClusterBits: qcowClusterBits,
		Size:      uint64(size+511) / 512 * 512,
		L1Entries: uint32((size + qcowCluster*qcowCluster/8 - 1) / (qcowCluster * qcowCluster / 8)),
		L1Offset:  3 * qcowCluster, RefTableOffset: qcowCluster, RefTableClusters: 1,
		RefcountOrder: 4, HeaderLength: qcowHeaderV3,
		ExtensionType: qcowBackingFmt, ExtensionLength: uint32(len(format)),
	}
	copy(head.ExtensionData[:], format)
	head.BackingOffset = uint64(binary.Size(head))

	image := make([]byte, 4*qcowCluster)
	n, err := binary.Encode(image, binary.BigEndian, head)
	if err != nil {
		return fmt.Errorf("overlay header: %w", err)
	}
	copy(image[n:], backing)
	binary.BigEndian.PutUint64(image[qcowCluster:], 2*qcowCluster)
	for i := range 4 { // each of the four clusters is used once
		binary.BigEndian.PutUint16(image[2*qcowCluster+2*i:], 1)
	}
	return createFileDurably(ctx, path, image)
}
