package libvirt

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"

	"libvirt.org/go/libvirtxml"
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
	XMLBytes uint32 // of the description and the cookie
	_        [2]uint32
	Cookie   uint32 // offset of the cookie after the header; 0: the file has no cookie
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

// savedCPU reads the CPU that QEMU gave a machine before it was saved; nil if the file does not have it. libvirt
// keeps it in a cookie after the description, which itself has the CPU as libvirt asked for it: without
// features that QEMU adds to a model.
func savedCPU(f *os.File, head header) (*libvirtxml.DomainCPU, error) {
	if head.Cookie == 0 || head.Cookie >= head.XMLBytes {
		return nil, nil //nolint:nilnil // it is unknown
	}
	text := make([]byte, min(head.XMLBytes-head.Cookie, maxDescription))
	if _, err := f.ReadAt(text, headerBytes+int64(head.Cookie)); err != nil {
		return nil, err
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	var cookie struct {
		CPU *libvirtxml.DomainCPU `xml:"cpu"`
	}
	if err := xml.Unmarshal(text, &cookie); err != nil {
		return nil, nil //nolint:nilerr,nilnil // of a libvirt that writes it otherwise: the description has to do
	}
	return cookie.CPU, nil
}
