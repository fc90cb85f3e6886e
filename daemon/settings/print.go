package settings

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
)

// YAML returns the settings as a file. Reading the file gives equal settings.
func (s *Settings) YAML() ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("print the settings: %w", err)
	}
	text, err := yaml.JSONToYAML(data)
	if err != nil {
		return nil, fmt.Errorf("print the settings: %w", err)
	}
	return text, nil
}
