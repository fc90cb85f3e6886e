//go:build libvirt_dlopen

package lab

import (
	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"
)

// startStranger starts a machine that bears no mark of vjob.
func startStranger(uri, name, kernel string) error {
	conn, err := libvirt.NewConnect(uri)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	d := libvirtxml.Domain{
		Type: "qemu", Name: name,
		Memory: &libvirtxml.DomainMemory{Value: 16, Unit: "MiB"},
		OS: &libvirtxml.DomainOS{
			Type:   &libvirtxml.DomainOSType{Arch: "x86_64", Machine: "pc-i440fx-7.2", Type: "hvm"},
			Kernel: kernel,
		},
		Devices: &libvirtxml.DomainDeviceList{
			Emulator:    "/usr/bin/qemu-system-x86_64",
			Controllers: []libvirtxml.DomainController{{Type: "usb", Model: "none"}},
			MemBalloon:  &libvirtxml.DomainMemBalloon{Model: "none"},
		},
	}
	text, err := d.Marshal()
	if err != nil {
		return err
	}
	dom, err := conn.DomainCreateXML(text, 0)
	if err != nil {
		return err
	}
	return dom.Free()
}
