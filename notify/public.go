package notify

import (
	"net/netip"
	"slices"
)

// assigned is where IANA assigns public IPv6 addresses from (RFC 4291). So site-local
// addresses (fec0::/10), those that hold an IPv4 address for a translator (64:ff9b::/96,
// 64:ff9b:1::/48, ::/96), unique local and link-local ones are outside.
var assigned = netip.MustParsePrefix("2000::/3")

// special are the networks of the special-purpose registries of IANA that are not public:
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry, as of 2025.
var special = networks(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared, behind carriers' translators
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // relays of 6to4, deprecated
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
	"2001::/23",       // protocol assignments, Teredo and benchmarks among them
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4: each holds an IPv4 address
	"3fff::/20",       // documentation
)

func networks(list ...string) (prefixes []netip.Prefix) {
	for _, text := range list {
		prefixes = append(prefixes, netip.MustParsePrefix(text))
	}
	return prefixes
}

// within reports whether an address is in one of the networks.
func within(list []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// IsPublic reports whether an address, without a zone, is one of the public Internet.
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsValid() && (ip.Is4() || assigned.Contains(ip)) && !within(special, ip)
}
