package libvirt

import (
	"io/fs"
	"os"
	"sync"
	"time"

	"vjob/hypervisor"
)

// knownHardware is the hardware of the images that were listed before: a listing reads each
// description once.
type knownHardware struct {
	mu     sync.Mutex
	images map[hypervisor.ImageID]imageHardware
}

// imageHardware is the hardware in one file.
type imageHardware struct {
	bytes    int64
	written  time.Time
	hardware *hypervisor.Hardware
}

// maxKnown bounds the images that are remembered; then all are forgotten and read again.
const maxKnown = 1 << 16

// hardware returns the hardware of the VM in an image; nil if the image is incomplete or has no
// description of a machine of ours.
func (s *imageStore) hardware(root *os.Root, id hypervisor.ImageID, head header, info fs.FileInfo) (*hypervisor.Hardware, error) {
	if !head.complete(info.Size()) {
		return nil, nil //nolint:nilnil // it is unknown
	}
	file := imageHardware{bytes: info.Size(), written: info.ModTime()}
	if was, known := s.known.get(id); known && was.bytes == file.bytes && was.written.Equal(file.written) {
		return was.hardware, nil
	}
	f, err := root.Open(id.String())
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	text, err := descriptionOf(f, head)
	if err != nil {
		return nil, err
	}
	cpu, err := savedCPU(f, head)
	if err != nil {
		return nil, err
	}
	if found, err := s.identify(text); err == nil && found.mark.vm() == id.VM {
		file.hardware = found.hardware
		if cpu != nil {
			setCPU(file.hardware, cpu)
		}
	}
	s.known.set(id, file)
	return file.hardware, nil
}

func (k *knownHardware) get(id hypervisor.ImageID) (file imageHardware, known bool) {
	if k == nil {
		return file, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	file, known = k.images[id]
	return file, known
}

func (k *knownHardware) set(id hypervisor.ImageID, file imageHardware) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.images) >= maxKnown {
		clear(k.images)
	}
	k.images[id] = file
}
