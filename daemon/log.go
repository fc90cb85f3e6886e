package daemon

import (
	"io"
	"log/slog"

	"vjob/daemon/settings"
)

// NewLogger returns a logger with the format and level of the settings.
func NewLogger(out io.Writer, l settings.Log) *slog.Logger {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	options := &slog.HandlerOptions{Level: levels[l.Level]}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
