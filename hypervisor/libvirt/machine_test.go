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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good()
			tt.change(&cfg)
			cfg = cfg.withDefaults()
			domain, err := cfg.domain(vm, stamp, tt.machine)
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

func TestIdentifyKnowsStrangers(t *testing.T) {
	cfg := good().withDefaults()
	vm := cluster.VMID{VJob: 1}
	domain, err := cfg.domain(vm, hypervisor.Stamp{}, hypervisor.Machine{
		Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := domain.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	other := good()
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
		if _, err := cfg.identify(text); !errors.Is(err, errStranger) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDomainRefuses(t *testing.T) {
	cfg := good().withDefaults()
	for name, m := range map[string]hypervisor.Machine{
		"unknown image": {Reserved: cluster.Resources{Memory: 1}, Payload: cluster.Payload{Image: "x"}},
		"no memory":     {Payload: cluster.Payload{Image: "counter"}},
		"negative CPU":  {Reserved: cluster.Resources{CPU: -1, Memory: 1}, Payload: cluster.Payload{Image: "counter"}},
	} {
		if _, err := cfg.domain(cluster.VMID{}, hypervisor.Stamp{}, m); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// libvirt describes in KiB what we state in MiB.
func TestSize(t *testing.T) {
	for text, want := range map[string]cluster.MiB{
		"<memory unit='KiB'>524288</memory>": 512, "<memory>524288</memory>": 512, "<memory unit='KiB'>524289</memory>": 513,
		"<memory unit='GiB'>2</memory>": 2048, "<memory unit='bytes'>1048576</memory>": 1, "<memory unit='parsec'>1</memory>": 0, "": 0,
	} {
		var d libvirtxml.Domain
		if err := d.Unmarshal("<domain><vcpu>3</vcpu>" + text + "</domain>"); err != nil {
			t.Fatal(err)
		}
		if got := sizeOf(&d, mark{}); got != (cluster.Resources{CPU: 3 * cluster.CPU, Memory: want}) {
			t.Errorf("%s: %s, want 3 CPU and %d MiB", text, got, want)
		}
	}
}
