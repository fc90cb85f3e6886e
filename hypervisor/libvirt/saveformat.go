package libvirt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The magic strings of libvirt's save format: the second replaces the first when everything has
// been written.
const (
	magicPartial  = "LibvirtQemudPart"
	magicComplete = "LibvirtQemudSave"
)

// header is the relevant beginning of a save file. Its numbers have the byte order of the host,
// which is little-endian on all supported hosts.
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

// readHeader reads the header of a save file in a folder, zero when the file is shorter.
func readHeader(root *os.Root, name string) (header, fs.FileInfo, error) {
	f, err := root.Open(name)
	if err != nil {
		return header{}, nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return headerOf(f)
}

func headerOf(f *os.File) (head header, info fs.FileInfo, err error) {
	info, err = f.Stat()
	if err != nil {
		return header{}, nil, err
	}
	err = binary.Read(io.NewSectionReader(f, 0, info.Size()), binary.LittleEndian, &head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return header{}, info, nil
	}
	return head, info, err
}

// maxDescription bounds how many bytes of a machine's description in a save file are read.
const maxDescription = 1 << 20

// descriptionOf reads the description of the machine that was saved: the text after the
// header, up to its first zero byte.
func descriptionOf(f *os.File, head header) (string, error) {
	text := make([]byte, min(int64(head.XMLBytes), maxDescription))
	if _, err := f.ReadAt(text, headerBytes); err != nil {
		return "", err
	}
	before, _, _ := bytes.Cut(text, []byte{0})
	return string(before), nil
}
