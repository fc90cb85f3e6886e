package libvirt

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

const hostCapabilities = `<capabilities>
  <host><cpu><arch>x86_64</arch><model>Skylake-Server-IBRS</model></cpu></host>
  <guest><os_type>hvm</os_type><arch name='aarch64'><machine>virt-8.2</machine><domain type='qemu'/></arch></guest>
  <guest><os_type>hvm</os_type><arch name='x86_64'><wordsize>64</wordsize>
    <machine maxCpus='255' canonical='pc-i440fx-8.2'>pc</machine><machine maxCpus='255'>pc-i440fx-8.2</machine>
    <machine maxCpus='288' canonical='pc-q35-8.2'>q35</machine><machine maxCpus='288'>pc-q35-7.2</machine>
    <domain type='qemu'/>
    <domain type='kvm'><machine>pc-q35-8.2</machine></domain>
  </arch></guest>
</capabilities>`

const kvmCapabilities = `<domainCapabilities><domain>kvm</domain><arch>x86_64</arch><cpu>
  <mode name='host-passthrough' supported='yes'/>
  <mode name='host-model' supported='yes'>
    <model fallback='forbid'>Skylake-Server-IBRS</model><vendor>Intel</vendor>
    <feature policy='require' name='ss'/><feature policy='disable' name='pcid'/>
  </mode>
  <mode name='custom' supported='yes'>
    <model usable='yes'>qemu64</model><model usable='unknown'>x86-64-v1</model>
    <model usable='no'>EPYC</model><model usable='no'>Icelake-Server</model>
    <blockers model='Icelake-Server'><feature name='gfni'/><feature name='avx512vnni'/></blockers>
  </mode>
</cpu></domainCapabilities>`

func TestPlatformsOf(t *testing.T) {
	t.Parallel()
	got, err := platformsOf(hostCapabilities)
	want := []hypervisor.Platform{
		{Type: "qemu", Arch: "x86_64", MachineTypes: []string{"pc-i440fx-8.2", "pc-q35-7.2", "pc-q35-8.2"}},
		{Type: "kvm", Arch: "x86_64", MachineTypes: []string{"pc-q35-8.2"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := platformsOf("no XML"); err == nil {
		t.Error("capabilities that are no XML")
	}
}

func TestDescribeCPU(t *testing.T) {
	t.Parallel()
	expanded := func(cpu string) (string, error) {
		for _, part := range []string{"<model fallback=\"forbid\">Skylake-Server-IBRS</model>", `policy="disable" name="pcid"`, "<vendor>Intel</vendor>"} {
			if !strings.Contains(cpu, part) {
				t.Errorf("expanded %s, which lacks %s", cpu, part)
			}
		}
		return `<cpu mode='custom'><model>Skylake-Server-IBRS</model><feature policy='require' name='ss'/><feature policy='require' name='avx512f'/><feature policy='disable' name='pcid'/></cpu>`, nil
	}
	p := hypervisor.Platform{Type: "kvm", Arch: "x86_64"}
	if err := describeCPU(&p, kvmCapabilities, expanded); err != nil {
		t.Fatal(err)
	}
	want := hypervisor.Platform{
		Type: "kvm", Arch: "x86_64", CPUModel: "Skylake-Server-IBRS", Features: []string{"avx512f", "ss"},
		Models: map[string]hypervisor.ModelSupport{
			"qemu64": {Usable: true}, "x86-64-v1": {Usable: true}, "EPYC": {}, "Icelake-Server": {Lacks: []string{"avx512vnni", "gfni"}},
		},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, want %+v", p, want)
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name, caps string
		expand     error
		ok         bool
	}{
		{"no XML", "no XML", nil, false},
		{"without CPU", "<domainCapabilities/>", nil, true},
		{"features not told", kvmCapabilities, broken, false},
		{"modes not supported", strings.ReplaceAll(kvmCapabilities, "'yes'", "'no'"), broken, true},
	} {
		p := hypervisor.Platform{}
		err := describeCPU(&p, c.caps, func(string) (string, error) { return "<cpu/>", c.expand })
		if (err == nil) != c.ok || c.ok && p.Features != nil {
			t.Errorf("%s: %v, %+v", c.name, err, p)
		}
	}
}

func TestHardwareOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hypervisor.Hardware{
		`<domain type='kvm'><os><type arch='x86_64' machine='pc-q35-8.2'>hvm</type></os>
		 <cpu mode='custom' match='exact' check='full'><model fallback='forbid'>Skylake-Server-IBRS</model>
		 <feature policy='require' name='ss'/><feature policy='force' name='md-clear'/><feature policy='optional' name='x'/>
		 <feature policy='disable' name='pcid'/><feature policy='forbid' name='hle'/></cpu></domain>`: {
			Type: "kvm", Arch: "x86_64", MachineType: "pc-q35-8.2", CPUModel: "Skylake-Server-IBRS",
			Features: []string{"md-clear", "ss"}, Without: []string{"hle", "pcid"},
		},
		`<domain type='kvm'><os><type machine='pc-q35-8.2'>hvm</type></os><cpu mode='host-passthrough' check='none'/></domain>`: {
			Type: "kvm", MachineType: "pc-q35-8.2", Passthrough: true,
		},
		`<domain type='qemu'><cpu mode='maximum'/></domain>`:    {Type: "qemu", Passthrough: true},
		`<domain type='qemu'><cpu mode='host-model'/></domain>`: {Type: "qemu"},
		`<domain type='qemu'/>`:                                 {Type: "qemu"},
	} {
		var d libvirtxml.Domain
		if err := d.Unmarshal(text); err != nil {
			t.Fatal(err)
		}
		if got := hardwareOf(&d); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}

func TestPlatformWarnings(t *testing.T) {
	t.Parallel()
	cfg := Config{MachineType: "pc-i440fx-7.2"}
	kvm := hypervisor.Platform{Type: "kvm", MachineTypes: []string{"pc-i440fx-7.2"}}
	q35 := hypervisor.Platform{Type: "qemu", MachineTypes: []string{"pc-q35-8.2"}}
	for _, c := range []struct {
		offer offer
		want  []string
	}{
		{offer{}, nil},
		{offer{platforms: []hypervisor.Platform{q35, kvm}}, nil},
		{offer{platforms: []hypervisor.Platform{q35}}, []string{"no VM boots on it: it lacks the machine type pc-i440fx-7.2 (libvirt.machine_type)"}},
		{offer{fault: "no answer"}, []string{"its CPU and machine types are unknown, VMs come to it unchecked: no answer"}},
	} {
		if got := cfg.platformWarnings(&c.offer); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.offer, got, c.want)
		}
	}
}

// A listing of the store tells the hardware of what was saved, and reads each image once.
func TestListTellsHardware(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	s.known = &knownHardware{images: map[hypervisor.ImageID]imageHardware{}}
	cfg := validConfig().withDefaults()
	d, err := cfg.domain(first.VM, hypervisor.Stamp{Incarnation: 1}, 0, hypervisor.Machine{
		Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file := make([]byte, headerBytes, headerBytes+len(text)+64)
	copy(file, magicComplete)
	binary.LittleEndian.PutUint32(file[20:], uint32(len(text)+1))
	file = append(append(file, text...), make([]byte, 64)...)
	write(t, s.path("h1", first), file)
	for range 2 {
		found, err := s.list()
		if err != nil || len(found.Images) != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		if h := found.Images[0].Hardware; h == nil || h.MachineType != cfg.MachineType || h.CPUModel != cfg.CPUModel {
			t.Errorf("hardware %+v", h)
		}
		kept := s.known.images[first]
		kept.hardware = &hypervisor.Hardware{MachineType: cfg.MachineType, CPUModel: cfg.CPUModel, Type: "remembered"}
		s.known.images[first] = kept
	}
	found, err := s.list()
	if err != nil || found.Images[0].Hardware.Type != "remembered" {
		t.Errorf("an unchanged image was read again: %+v, %v", found, err)
	}
	write(t, s.path("h1", first), append(file, 0))
	if found, err = s.list(); err != nil || found.Images[0].Hardware.Type == "remembered" {
		t.Errorf("a changed image was not read: %+v, %v", found, err)
	}
}

// The cookie of an image has the CPU with the features that QEMU gave it; a cookie that cannot be read changes
// nothing.
func TestHardwareOfCookies(t *testing.T) {
	t.Parallel()
	cfg := validConfig().withDefaults()
	d, err := cfg.domain(first.VM, hypervisor.Stamp{Incarnation: 1}, 0, hypervisor.Machine{
		Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for cookie, want := range map[string]hypervisor.Hardware{
		"": {CPUModel: cfg.CPUModel},
		"<cookie><cpu mode='custom' match='exact'><model>qemu64</model><feature policy='require' name='lahf_lm'/>" +
			"<feature policy='require' name='hypervisor'/><feature policy='disable' name='svm'/></cpu><slirpHelper/></cookie>": {
			CPUModel: "qemu64", Features: []string{"hypervisor", "lahf_lm"}, Without: []string{"svm"},
		},
		"<cookie><slirpHelper/></cookie>": {CPUModel: cfg.CPUModel},
		"<cookie><cpu":                    {CPUModel: cfg.CPUModel},
	} {
		s, _ := newStore(t)
		file := make([]byte, headerBytes)
		copy(file, magicComplete)
		data := append([]byte(text), 0)
		binary.LittleEndian.PutUint32(file[32:], uint32(len(data)))
		data = append(append(data, cookie...), 0)
		binary.LittleEndian.PutUint32(file[20:], uint32(len(data)))
		write(t, s.path("h1", first), append(append(file, data...), make([]byte, 64)...))
		found, err := s.list()
		if err != nil || len(found.Images) != 1 || found.Images[0].Hardware == nil {
			t.Fatalf("%q: %+v, %v", cookie, found, err)
		}
		got := found.Images[0].Hardware
		if got.CPUModel != want.CPUModel || !slices.Equal(got.Features, want.Features) || !slices.Equal(got.Without, want.Without) {
			t.Errorf("%q: %+v, want %+v", cookie, got, want)
		}
	}
}
