package libvirt

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/tests/golden"
)

func TestDomainGolden(t *testing.T) {
	vm := cluster.VMID{VJob: 12, Rank: 3}
	stamp := hypervisor.Stamp{Incarnation: 2, Epoch: 9}
	tests := []struct {
		name    string
		change  func(*Config)
		machine hypervisor.Machine
	}{
		{"kernel", func(*Config) {}, hypervisor.Machine{
			Name:     `</name><evil a="`,
			Reserved: cluster.Resources{CPU: 1500, Memory: 512},
			Payload: cluster.Payload{
				Image: "counter", Command: []string{"run=30", "</cmdline>&amp;'\""}, Env: map[string]string{"B": "2", "A": "1"},
			},
		}},
		{"kernel-kvm-lease-bridge", func(c *Config) {
			c.DomainType, c.CPUModel, c.Bridge = "kvm", "Nehalem", "br0"
			c.Lease = &Lease{Lockspace: "lockd", Path: "/srv/vjob"}
		}, hypervisor.Machine{Members: 4, Reserved: cluster.Resources{Memory: 64}, Payload: cluster.Payload{Image: "counter"}}},
		{"kernel-bridge-alone", func(c *Config) { c.Bridge = "br0" }, hypervisor.Machine{
			Members: 1, Reserved: cluster.Resources{Memory: 64}, Payload: cluster.Payload{Image: "counter"},
		}},
		{"disk", func(*Config) {}, hypervisor.Machine{
			Reserved: cluster.Resources{CPU: 1000, Memory: 1024},
			Payload:  cluster.Payload{Image: "debian-12", Script: "]]></domain>"},
		}},
		{"disk-errors-apart", func(*Config) {}, hypervisor.Machine{
			Reserved: cluster.Resources{CPU: 1000, Memory: 1024},
			Payload:  cluster.Payload{Image: "debian-12", Command: []string{"true"}, ErrorsApart: true},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := validConfig()
			tt.change(&cfg)
			cfg = cfg.withDefaults()
			domain, err := cfg.domain(vm, stamp, 0, tt.machine)
			if err != nil {
				t.Fatal(err)
			}
			text, err := domain.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join("testdata", tt.name+".xml"), text+"\n")

			who, err := cfg.identify(text)
			if err != nil || who.mark.vm() != vm || who.mark.stamp() != stamp {
				t.Errorf("it does not know itself: %+v, %v", who, err)
			}
			size := tt.machine.Reserved
			if size.CPU == 0 {
				size.CPU = cluster.CPU // of its one virtual processor
			}
			if who.size != size {
				t.Errorf("size %s, want %s", who.size, size)
			}
			if want := !strings.HasPrefix(tt.name, "kernel") || cfg.Lease != nil; who.lock != want {
				t.Errorf("lock: %v", who.lock)
			}
		})
	}
}

func TestIdentifyUnmanaged(t *testing.T) {
	cfg := validConfig().withDefaults()
	vm := cluster.VMID{VJob: 1}
	domain, err := cfg.domain(vm, hypervisor.Stamp{}, 0, hypervisor.Machine{
		Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := domain.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	other := validConfig()
	other.Cluster = "another"
	for name, text := range map[string]string{
		"another name":  strings.Replace(ours, "<name>vjob-1-0<", "<name>vjob-1-1<", 1),
		"another UUID":  strings.Replace(ours, machineUUID("vjob", vm), machineUUID("another", vm), 1),
		"no metadata":   ours[:strings.Index(ours, "<metadata>")] + ours[strings.Index(ours, "</metadata>")+len("</metadata>"):],
		"other mark":    strings.Replace(ours, namespace, "https://example.org/", 1),
		"another vjobd": strings.Replace(ours, `cluster="vjob"`, `cluster="other"`, 1),
		"not XML":       "vjob-1-0",
	} {
		if text == ours {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := cfg.identify(text); !errors.Is(err, errUnmanaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDomainRefuses(t *testing.T) {
	cfg := validConfig().withDefaults()
	for name, m := range map[string]hypervisor.Machine{
		"unknown image": {Reserved: cluster.Resources{Memory: 1}, Payload: cluster.Payload{Image: "x"}},
		"no memory":     {Payload: cluster.Payload{Image: "counter"}},
		"two words":     {Reserved: cluster.Resources{Memory: 1}, Payload: cluster.Payload{Image: "counter", Command: []string{"a b"}}},
		"negative CPU":  {Reserved: cluster.Resources{CPU: -1, Memory: 1}, Payload: cluster.Payload{Image: "counter"}},
	} {
		if _, err := cfg.domain(cluster.VMID{}, hypervisor.Stamp{}, 0, m); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// libvirt describes in KiB what we state in MiB.
func TestSize(t *testing.T) {
	for text, want := range map[string]cluster.MiB{
		"<memory unit='KiB'>524288</memory>": 512, "<memory>524288</memory>": 512, "<memory unit='KiB'>524289</memory>": 513,
		"<memory unit='GiB'>2</memory>": 2048, "<memory unit='bytes'>1048576</memory>": 1, "<memory unit='bytes'>1048577</memory>": 2, "<memory unit='b'>5242880</memory>": 5, "<memory unit='GiB'>2048</memory>": 2048 << 10,
		"<memory unit='parsec'>1</memory>": 0, "": 0,
	} {
		var d libvirtxml.Domain
		if err := d.Unmarshal("<domain><vcpu>3</vcpu>" + text + "</domain>"); err != nil {
			t.Fatal(err)
		}
		if got := sizeOf(&libvirtxml.Domain{Memory: d.Memory}, mark{}); got != (cluster.Resources{Memory: want}) {
			t.Errorf("%s, without processors: %s", text, got)
		}
		if got := sizeOf(&d, mark{}); got != (cluster.Resources{CPU: 3 * cluster.CPU, Memory: want}) {
			t.Errorf("%s: %s, want 3 CPU and %d MiB", text, got, want)
		}
	}
}

// A copy is locked by a lease, or by a disk that QEMU locks: a file that it alone writes.
func TestLock(t *testing.T) {
	cfg := validConfig().withDefaults()
	domain, err := cfg.domain(first.VM, hypervisor.Stamp{}, 0, hypervisor.Machine{
		Reserved: cluster.Resources{CPU: 1500, Memory: 8}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: "/disk"}}
	block := &libvirtxml.DomainDiskSource{Block: &libvirtxml.DomainDiskSourceBlock{Dev: "/dev/sda"}}
	writable := libvirtxml.DomainDisk{Source: file}
	for name, tt := range map[string]struct {
		devices *libvirtxml.DomainDeviceList
		want    bool
	}{
		"no devices":     {nil, false},
		"a lease":        {&libvirtxml.DomainDeviceList{Leases: []libvirtxml.DomainLease{{Key: "a"}}}, true},
		"a file":         {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{writable}}, true},
		"the second one": {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{{Device: "cdrom"}, writable}}, true},
		"the first one":  {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{writable, {Device: "cdrom"}}}, true},
		"an empty drive": {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{{Device: "cdrom"}}}, false},
		"a block device": {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{{Source: block}}}, false},
		"a shared file": {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{
			{Source: file, Shareable: &libvirtxml.DomainDiskShareable{}},
		}}, false},
		"a file to read": {&libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{
			{Source: file, ReadOnly: &libvirtxml.DomainDiskReadOnly{}},
		}}, false},
	} {
		domain.Devices = tt.devices
		text, err := domain.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		who, err := cfg.identify(text)
		if want := (cluster.Resources{CPU: 1500, Memory: 8}); err != nil || who.lock != tt.want || who.size != want || who.mark.vm() != first.VM {
			t.Errorf("%s: locked %t, size %s, %v; want %t", name, who.lock, who.size, err, tt.want)
		}
	}
}

// A guest has a virtual processor for each CPU that it reserves in part, and one at least.
func TestVirtualProcessors(t *testing.T) {
	cfg := validConfig().withDefaults()
	for reserved, want := range map[cluster.MilliCPU]uint{0: 1, 1: 1, 1000: 1, 1001: 2, 2000: 2, 15_999: 16} {
		d, err := cfg.domain(first.VM, hypervisor.Stamp{}, 0, hypervisor.Machine{
			Reserved: cluster.Resources{CPU: reserved, Memory: 1}, Payload: cluster.Payload{Image: "counter"},
		})
		if err != nil || d.VCPU.Value != want {
			t.Errorf("%d thousandths: %+v, %v; want %d", reserved, d, err, want)
		}
	}
}

// Names and addresses have to stay what they are: machines that run bear them.
func TestNamesOfAMachine(t *testing.T) {
	for what, tt := range map[string]struct{ got, want string }{
		"name":           {cluster.GuestName(first.VM), "vjob-12-3"},
		"UUID":           {machineUUID("vjob", first.VM), "bcf853e3-cb84-5e49-9dca-bc1107667cf9"},
		"MAC":            {machineMAC("vjob", first.VM), "02:7d:31:8e:38:a5"},
		"another's UUID": {machineUUID("other", first.VM), "68367865-cd72-57db-bf79-35888878c55d"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s %s, want %s", what, tt.got, tt.want)
		}
	}
}
