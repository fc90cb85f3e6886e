package display

import (
	"fmt"

	"vjob/api/wire"
)

// MaintenanceLine says by which user and why a node is in maintenance, and how far it is on its way there.
func MaintenanceLine(m *wire.NodeMaintenance) string {
	why := "maintenance by " + m.By + " since " + Moment(&m.Since)
	if m.Reason != "" {
		why += " (" + m.Reason + ")"
	}
	if m.Empty {
		return why
	}
	why += ": " + MaintenanceProgress(m)
	if m.Stays != "" {
		why += "; " + m.Stays
	}
	return why
}

// MaintenanceProgress says how many VMs are left, how many of them move, and when the last one is gone.
func MaintenanceProgress(m *wire.NodeMaintenance) string {
	text := fmt.Sprintf("%d of %d VMs left", m.Left, max(m.VMs, m.Left))
	if len(m.Moving) > 0 {
		text += fmt.Sprintf(", %d moving", len(m.Moving))
	}
	if m.End != nil {
		text += ", empty at about " + Moment(m.End)
	}
	return text
}
