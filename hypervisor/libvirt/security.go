package libvirt

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"libvirt.org/go/libvirtxml"
)

// The values of [Config.MigrationTLS] and [Config.PortIsolation].
const (
	settingAuto = "auto"
	settingOn   = "on"
	settingOff  = "off"
	wantSetting = "auto, on or off"
)

var settingValues = []string{settingAuto, settingOn, settingOff}

// NoFilter is the [Config.NetworkFilter] of VMs without one.
const NoFilter = "none"

// isolates reports whether the port of a VM on its bridge is isolated. Isolated ports cannot
// reach each other, which the VMs of one vjob may need.
func (c Config) isolates(members int) bool {
	return c.PortIsolation == settingOn || c.PortIsolation == settingAuto && members == 1
}

// network connects a VM to its bridge. The filter restricts it to its own addresses: libvirt
// knows the MAC address from the description and learns the IP address from traffic.
func (c Config) network(mac string, members int) libvirtxml.DomainInterface {
	i := libvirtxml.DomainInterface{
		MAC:    &libvirtxml.DomainInterfaceMAC{Address: mac},
		Source: &libvirtxml.DomainInterfaceSource{Bridge: &libvirtxml.DomainInterfaceSourceBridge{Bridge: c.Bridge}},
		Model:  &libvirtxml.DomainInterfaceModel{Type: "virtio"},
	}
	if c.NetworkFilter != NoFilter {
		i.FilterRef = &libvirtxml.DomainInterfaceFilterRef{Filter: c.NetworkFilter}
	}
	if c.isolates(members) {
		i.PortOptions = &libvirtxml.DomainInterfacePortOptions{Isolated: "yes"}
	}
	return i
}

// filtered reports whether VMs need the network filter on their nodes.
func (c Config) filtered() bool { return c.Bridge != "" && c.NetworkFilter != NoFilter }

// migratesByTLS reports whether the memory of VMs that migrate to a node is encrypted.
func (c Config) migratesByTLS(to Host) bool {
	return c.MigrationTLS == settingOn || c.MigrationTLS == settingAuto && byTLS(to.PeerURI)
}

// byTLS reports whether a connection to libvirt is encrypted by TLS, the default of libvirt for
// a URI with a host and no transport.
func byTLS(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil {
		return false
	}
	_, transport, named := strings.Cut(u.Scheme, "+")
	return transport == "tls" || !named && u.Host != ""
}

// tlsName is the host name in the certificate of a node: that of its URI.
func tlsName(to Host) string {
	u, err := url.Parse(to.PeerURI)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// confined reports whether capabilities name a security model that confines each VM to its
// own files (sVirt). The model dac only gives all VMs one user.
func confined(capabilities string) (bool, error) {
	var c libvirtxml.Caps
	if err := c.Unmarshal(capabilities); err != nil {
		return false, fmt.Errorf("capabilities: %w", err)
	}
	return slices.ContainsFunc(c.Host.SecModel, func(m libvirtxml.CapsHostSecModel) bool {
		return m.Name == "selinux" || m.Name == "apparmor"
	}), nil
}

// inspection is how secure the VMs of a node are.
type inspection struct {
	confined   bool
	unfiltered bool // it lacks the network filter
	software   string
}

// warnings are the warnings about a node for administrators.
func (c Config) warnings(h Host, i inspection) (list []string) {
	if !i.confined {
		list = append(list, "its VMs are not confined: libvirt reports neither selinux nor apparmor")
	}
	if len(c.Hosts) > 1 && !c.migratesByTLS(h) {
		list = append(list, "VMs migrate to it in the clear: no TLS (libvirt.migration_tls)")
	}
	if i.unfiltered {
		list = append(list, fmt.Sprintf("its VMs have no network filter: %s is not defined (virsh nwfilter-define)", c.NetworkFilter))
	}
	return list
}
