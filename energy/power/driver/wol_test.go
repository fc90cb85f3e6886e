package driver_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/driver"
)

// listen is a network card that listens.
func listen(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestMagicPacket(t *testing.T) {
	card := listen(t)
	d, err := driver.NewWakeOnLAN(driver.WakeOnLANSettings{MAC: "52:54:00:12:34:Ab", Broadcast: card.LocalAddr().String(), Off: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.On(t.Context()); err != nil {
		t.Fatal(err)
	}
	mac := []byte{0x52, 0x54, 0x00, 0x12, 0x34, 0xab}
	for range 3 {
		got := make([]byte, 1500)
		n, err := card.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		if n != 102 || !bytes.Equal(got[:6], bytes.Repeat([]byte{0xff}, 6)) {
			t.Fatalf("%d bytes: %x", n, got[:n])
		}
		for i := 6; i < 102; i += 6 {
			if !bytes.Equal(got[i:i+6], mac) {
				t.Fatalf("at %d: %x", i, got[:n])
			}
		}
	}
}

// The system lets a program broadcast only if it asks for it.
func TestBroadcastIsAllowed(t *testing.T) {
	d, err := driver.NewWakeOnLAN(driver.WakeOnLANSettings{MAC: "52-54-00-12-34-56", Broadcast: "127.255.255.255:9", Off: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.On(t.Context()); err != nil {
		t.Errorf("broadcast on the loopback network: %v", err)
	}
}

func TestOffByCommand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "off")
	d, err := driver.NewWakeOnLAN(driver.WakeOnLANSettings{MAC: "52:54:00:12:34:56", Off: []string{"touch", mark}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Off(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
	if s, err := d.State(t.Context()); s != power.Unknown || err != nil {
		t.Errorf("%s, %v", s, err)
	}
}

func TestBadWakeOnLANSettings(t *testing.T) {
	for field, s := range map[string]driver.WakeOnLANSettings{
		"mac":     {MAC: "52:54:00:12:34", Off: []string{"true"}},
		"address": {MAC: "52:54:00:12:34:56", Broadcast: "nowhere", Off: []string{"true"}},
		"off":     {MAC: "52:54:00:12:34:56"},
	} {
		_, err := driver.NewWakeOnLAN(s)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
