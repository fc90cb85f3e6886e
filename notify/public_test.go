package notify_test

import (
	"net/netip"
	"testing"

	"vjob/notify"
)

// Only addresses of the public Internet are public; each network is tried at both ends and
// beyond them.
func TestPublic(t *testing.T) {
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/96", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:2::/48", "2001:db8::/32", "2002::/16",
		"3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "::ffff:10.0.0.0/104",
	} {
		p := netip.MustParsePrefix(text)
		last := p.Masked().Addr().AsSlice()
		for i := p.Bits(); i < len(last)*8; i++ {
			last[i/8] |= 0x80 >> (i % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		for _, ip := range []netip.Addr{p.Masked().Addr(), end} {
			if notify.IsPublic(ip) {
				t.Errorf("%s of %s is public", ip, p)
			}
		}
	}
	for _, text := range []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "223.255.255.255",
		"2000::1", "2001:200::", "2001:4860:4860::8888", "2003::1", "2a00:1450::1", "3ffe:ffff::1", "::ffff:1.1.1.1",
	} {
		if !notify.IsPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s is not public", text)
		}
	}
	if notify.IsPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}
