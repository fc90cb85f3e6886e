package libvirt

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// The magic words of libvirt's save format: the second replaces the first when
// everything has been written.
const (
	magicPartial  = "LibvirtQemudPart"
	magicComplete = "LibvirtQemudSave"
)

// header is the beginning of a save file, as far as it matters here. Its numbers
// have the byte order of the host; ours and all that QEMU runs fast on are little.
type header struct {
	Magic    [16]byte
	Version  uint32
	XMLBytes uint32
}

// headerBytes is the whole header of libvirt's format, before the XML.
const headerBytes = 92

func (h header) complete(size int64) bool {
	return string(h.Magic[:]) == magicComplete && size > headerBytes+int64(h.XMLBytes)
}

// readHeader reads the header of a save file, zero when the file is shorter.
func readHeader(path string) (header, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return header{}, 0, err
	}
	defer f.Close() //nolint:errcheck // read only
	return headerOf(f)
}

func headerOf(f *os.File) (head header, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return header{}, 0, err
	}
	err = binary.Read(io.NewSectionReader(f, 0, info.Size()), binary.LittleEndian, &head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return header{}, info.Size(), nil
	}
	return head, info.Size(), err
}
