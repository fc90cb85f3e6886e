package wire

// ReloadOrder asks for the settings to be read again.
type ReloadOrder struct {
	Check bool `json:"check,omitempty"` // only return the changes
}

// Reload is what a reload of the settings changes.
type Reload struct {
	File    string          `json:"file"`    // that was read
	Applied bool            `json:"applied"` // false: only checked
	Changes []SettingChange `json:"changes"` // in order of settings
	// Restart is how many of the changes take effect only when the daemon is started again.
	Restart int `json:"restart"`
}

// SettingChange is a difference between the settings in effect and those in the file.
type SettingChange struct {
	Setting string `json:"setting"`       // such as queues.night.priority
	Kind    string `json:"kind"`          // changed, added, removed
	Old     string `json:"old,omitempty"` // as it stands in a file
	New     string `json:"new,omitempty"` // as it stands in a file
	Effect  string `json:"effect"`        // live: at the reload; restart: when the daemon is started again
}
