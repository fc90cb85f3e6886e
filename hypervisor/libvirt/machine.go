package libvirt

import (
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// namespace is the XML namespace of our mark in a machine's metadata.
const namespace = "urn:vjob:machine:1"

// mark is the metadata of our machines: their identity, and what listings do not show
// otherwise. It stays with a machine through saves and migrations.
type mark struct {
	XMLName     xml.Name `xml:"urn:vjob:machine:1 machine"`
	Cluster     string   `xml:"cluster,attr"`
	VJob        int64    `xml:"vjob,attr"`
	Rank        int      `xml:"rank,attr"`
	Incarnation int      `xml:"incarnation,attr"`
	Epoch       int64    `xml:"epoch,attr"`
	CPUMilli    int64    `xml:"cpu_milli,attr"` // the reservation: the demand of a guest before it was measured
	// Printed is how many bytes earlier guests of the VM have left on its console.
	Printed int64 `xml:"printed,attr,omitempty"`
}

func (m mark) vm() cluster.VMID { return cluster.VMID{VJob: cluster.VJobID(m.VJob), Rank: m.Rank} }

func (m mark) stamp() hypervisor.Stamp {
	return hypervisor.Stamp{Incarnation: m.Incarnation, Epoch: m.Epoch}
}

// errUnmanaged is the error for a machine that is not ours.
var errUnmanaged = errors.New("not a machine of ours")

// machineUUID is the same on every node, as migrations require, and for every incarnation, so
// that a node never holds two copies of one VM.
func machineUUID(owner string, vm cluster.VMID) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(namespace+"#"+owner+"/"+vm.String())).String()
}

// machineMAC is a locally administered address, derived from the UUID.
func machineMAC(owner string, vm cluster.VMID) string {
	h := sha256.Sum256([]byte(machineUUID(owner, vm)))
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", h[0], h[1], h[2], h[3], h[4])
}

// consolePath is the file to which a VM prints on every node.
func (c Config) consolePath(vm cluster.VMID) string {
	return filepath.Join(c.ConsoleDir, vm.String()+".console")
}

// errorsPath is the file to which a VM prints what its work writes to standard error, if that is kept apart.
func (c Config) errorsPath(vm cluster.VMID) string {
	return filepath.Join(c.ConsoleDir, vm.String()+".errors")
}

// guestPath is the file that says which guest of a VM was started last: see [lastGuest].
func (c Config) guestPath(vm cluster.VMID) string {
	return filepath.Join(c.ConsoleDir, vm.String()+".guest")
}

func (c Config) seedPath(vm cluster.VMID, s hypervisor.Stamp) string {
	return filepath.Join(c.SeedDir, fmt.Sprintf("%s.i%d.seed.iso", vm, s.Incarnation))
}

func (c Config) overlayPath(vm cluster.VMID, s hypervisor.Stamp) string {
	return filepath.Join(c.SeedDir, fmt.Sprintf("%s.i%d.qcow2", vm, s.Incarnation))
}

// leasePath is the file behind a VM's lease; the lock manager requires it to exist.
func (l *Lease) leasePath(vm cluster.VMID) string {
	return filepath.Join(l.Path, l.Lockspace, cluster.GuestName(vm))
}

// domain describes the machine of a VM, given how many bytes its earlier guests have printed.
func (c Config) domain(vm cluster.VMID, s hypervisor.Stamp, printed int64, m hypervisor.Machine) (*libvirtxml.Domain, error) {
	image, err := c.image(m.Payload.Image)
	if err != nil {
		return nil, err
	}
	if m.Reserved.Memory < 1 || m.Reserved.CPU < 0 {
		return nil, cluster.BadField("reserved", m.Reserved.String(), "at least 1 MiB of memory")
	}
	inner, err := xml.Marshal(mark{
		Cluster: c.Cluster, VJob: int64(vm.VJob), Rank: vm.Rank,
		Incarnation: s.Incarnation, Epoch: s.Epoch, CPUMilli: int64(m.Reserved.CPU), Printed: printed,
	})
	if err != nil {
		return nil, fmt.Errorf("metadata of %s: %w", vm, err)
	}
	d := &libvirtxml.Domain{
		Type:     c.DomainType,
		Name:     cluster.GuestName(vm),
		UUID:     machineUUID(c.Cluster, vm),
		Metadata: &libvirtxml.DomainMetadata{XML: string(inner)},
		Memory:   &libvirtxml.DomainMemory{Value: uint(m.Reserved.Memory), Unit: "MiB"},
		VCPU:     &libvirtxml.DomainVCPU{Value: max(1, uint((m.Reserved.CPU+cluster.CPU-1)/cluster.CPU))},
		OS:       &libvirtxml.DomainOS{Type: &libvirtxml.DomainOSType{Arch: "x86_64", Machine: c.MachineType, Type: "hvm"}},
		Features: &libvirtxml.DomainFeatureList{ACPI: &libvirtxml.DomainFeature{}},
		// An exact model without features of the host: an image must resume on every node.
		CPU: &libvirtxml.DomainCPU{
			Mode: "custom", Match: "exact", Check: "none",
			Model: &libvirtxml.DomainCPUModel{Fallback: "forbid", Value: c.CPUModel},
		},
		// Transient, and gone however the guest ends: no definition is left that could be
		// started again by hand.
		OnPoweroff: "destroy", OnReboot: "destroy", OnCrash: "destroy",
		Devices: c.devices(vm, &m),
	}
	if c.DomainType == "qemu" {
		d.Features.TCG = &libvirtxml.DomainFeatureTCG{
			TBCache: &libvirtxml.DomainFeatureTCGTBCache{Unit: "MiB", Size: uint(c.TranslationCacheMiB)},
		}
	}
	if image.Kind == KindKernel {
		d.OS.Kernel, d.OS.Initrd = image.Kernel, image.Initrd
		d.OS.Cmdline, err = kernelCommandLine(vm, image, m.Payload)
		return d, err
	}
	d.OS.BootDevices = []libvirtxml.DomainBootDevice{{Dev: "hd"}}
	d.Devices.Disks = c.disks(vm, s, image)
	return d, nil
}

func (c Config) devices(vm cluster.VMID, m *hypervisor.Machine) *libvirtxml.DomainDeviceList {
	typing := uint(1)
	list := &libvirtxml.DomainDeviceList{
		Emulator:    c.Emulator,
		Controllers: []libvirtxml.DomainController{{Type: "usb", Model: "none"}},
		Serials: []libvirtxml.DomainSerial{printer(0, c.consolePath(vm)), {
			// For interactive use: see [Driver.Attach].
			Source: &libvirtxml.DomainChardevSource{Pty: &libvirtxml.DomainChardevSourcePty{}},
			Target: &libvirtxml.DomainSerialTarget{Port: &typing},
		}},
		// Never inflated: its driver in the guest tells how much memory the guest uses.
		MemBalloon: &libvirtxml.DomainMemBalloon{Model: "virtio", Stats: &libvirtxml.DomainMemBalloonStats{Period: statsPeriod}},
	}
	if m.Payload.ErrorsApart {
		list.Serials = append(list.Serials, printer(2, c.errorsPath(vm)))
	}
	if c.Lease != nil {
		list.Leases = []libvirtxml.DomainLease{{
			Lockspace: c.Lease.Lockspace,
			Key:       cluster.GuestName(vm),
			Target:    &libvirtxml.DomainLeaseTarget{Path: c.Lease.Path},
		}}
	}
	if c.Bridge != "" {
		list.Interfaces = []libvirtxml.DomainInterface{c.network(machineMAC(c.Cluster, vm), m.Members)}
	}
	return list
}

// printer is a serial line that goes to a file.
func printer(port uint, path string) libvirtxml.DomainSerial {
	return libvirtxml.DomainSerial{
		// Without append, a restore empties the file.
		Source: &libvirtxml.DomainChardevSource{File: &libvirtxml.DomainChardevSourceFile{Path: path, Append: "on"}},
		Target: &libvirtxml.DomainSerialTarget{Port: &port},
	}
}

// disks are the VM's overlay, backed by the image of the catalogue, and its seed.
func (c Config) disks(vm cluster.VMID, s hypervisor.Stamp, image CatalogueImage) []libvirtxml.DomainDisk {
	return []libvirtxml.DomainDisk{
		{
			Device: "disk",
			// The host's page cache would lose writes over a migration.
			Driver: &libvirtxml.DomainDiskDriver{Name: "qemu", Type: "qcow2", Cache: "none"},
			Source: fileSource(c.overlayPath(vm, s)),
			BackingStore: &libvirtxml.DomainDiskBackingStore{
				Format:       &libvirtxml.DomainDiskFormat{Type: image.Format},
				Source:       fileSource(image.Disk),
				BackingStore: &libvirtxml.DomainDiskBackingStore{},
			},
			Target: &libvirtxml.DomainDiskTarget{Dev: "vda", Bus: "virtio"},
		},
		{
			Device:   "cdrom",
			Driver:   &libvirtxml.DomainDiskDriver{Name: "qemu", Type: "raw"},
			Source:   fileSource(c.seedPath(vm, s)),
			Target:   &libvirtxml.DomainDiskTarget{Dev: "hda", Bus: "ide"},
			ReadOnly: &libvirtxml.DomainDiskReadOnly{},
		},
	}
}

func fileSource(path string) *libvirtxml.DomainDiskSource {
	return &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: path}}
}

// identity is the part of a machine's description that never changes while it exists.
type identity struct {
	mark     mark
	size     cluster.Resources
	lock     bool   // a lease, or a disk that QEMU locks
	tuning   tuning // when it was first seen
	hardware *hypervisor.Hardware
}

// identify reads our mark from a machine's description, or fails with errStranger.
func (c Config) identify(description string) (identity, error) {
	var d libvirtxml.Domain
	if err := d.Unmarshal(description); err != nil {
		return identity{}, fmt.Errorf("%w: %w", errUnmanaged, err)
	}
	var id identity
	if d.Metadata == nil || xml.Unmarshal([]byte(d.Metadata.XML), &id.mark) != nil {
		return identity{}, errUnmanaged
	}
	m := id.mark
	if m.Cluster != c.Cluster || d.Name != cluster.GuestName(m.vm()) || d.UUID != machineUUID(c.Cluster, m.vm()) {
		return identity{}, errUnmanaged
	}
	id.tuning, id.size, id.hardware = tuningOf(d.CPUTune), sizeOf(&d, m), hardwareOf(&d)
	if d.Devices == nil {
		return id, nil
	}
	id.lock = len(d.Devices.Leases) > 0
	for _, disk := range d.Devices.Disks {
		writable := disk.ReadOnly == nil && disk.Shareable == nil
		id.lock = id.lock || (writable && disk.Source != nil && disk.Source.File != nil && disk.Source.File.File != "")
	}
	return id, nil
}
