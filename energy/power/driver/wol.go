package driver

import (
	"bytes"
	"context"
	"fmt"
	"net"

	"vjob/cluster"
	"vjob/energy/power"
)

// WakeOnLANSettings are the settings of a [WakeOnLAN] driver.
type WakeOnLANSettings struct {
	MAC string // of the node's network card
	// Broadcast is the address and port to which packets go; "" is
	// 255.255.255.255:9.
	Broadcast string
	// Off is the command that shuts the node down, and State the one that reports the state; if
	// State is empty, the state is unknown.
	Off, State []string
}

// WakeOnLAN wakes a node by a magic packet with the MAC address of its network card. The protocol has no reply and cannot
// switch a node off; a command does that, such as ssh to the node.
type WakeOnLAN struct {
	packet  []byte
	address string
	command Command
}

var _ power.Driver = (*WakeOnLAN)(nil)

// NewWakeOnLAN checks the settings. The error names the field.
func NewWakeOnLAN(s WakeOnLANSettings) (*WakeOnLAN, error) {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil || len(mac) != 6 {
		return nil, cluster.BadField("mac", s.MAC, "a MAC address, such as 52:54:00:12:34:56")
	}
	if s.Broadcast == "" {
		s.Broadcast = "255.255.255.255:9"
	}
	if _, err := net.ResolveUDPAddr("udp", s.Broadcast); err != nil {
		return nil, cluster.BadField("address", s.Broadcast, `an address and a port, such as "192.168.1.255:9"`)
	}
	if len(s.Off) == 0 {
		return nil, cluster.BadField("off", s.Off, "the command that shuts the node down, word by word")
	}
	packet := append(bytes.Repeat([]byte{0xff}, 6), bytes.Repeat(mac, 16)...)
	return &WakeOnLAN{packet, s.Broadcast, Command{TurnOff: s.Off, Ask: s.State}}, nil
}

// On sends the packet three times, since packets get lost.
func (d *WakeOnLAN) On(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", d.address)
	if err != nil {
		return fmt.Errorf("wake by %s: %w", d.address, err)
	}
	defer func() { _ = conn.Close() }() // nothing of a packet is left to be sent
	for range 3 {
		if _, err := conn.Write(d.packet); err != nil {
			return fmt.Errorf("wake by %s: %w", d.address, err)
		}
	}
	return nil
}

// Off runs the command that shuts the node down.
func (d *WakeOnLAN) Off(ctx context.Context) error { return d.command.Off(ctx) }

// State runs the command that reports the state, if there is one.
func (d *WakeOnLAN) State(ctx context.Context) (power.State, error) { return d.command.State(ctx) }
