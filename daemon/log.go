package daemon

import (
	"io"
	"log/slog"

	"vjob/daemon/settings"
)

// levels are the levels of the log by their names in the settings.
var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// leveled is a handler with a level that can change.
type leveled struct {
	slog.Handler
	level *slog.LevelVar
}

// NewLogger returns a logger with the format and level of the settings. The daemon changes its level at a reload.
func NewLogger(out io.Writer, l settings.Log) *slog.Logger {
	h := leveled{level: &slog.LevelVar{}}
	h.level.Set(levels[l.Level])
	options := &slog.HandlerOptions{Level: h.level}
	if l.Format == "json" {
		h.Handler = slog.NewJSONHandler(out, options)
	} else {
		h.Handler = slog.NewTextHandler(out, options)
	}
	return slog.New(h)
}

// setLevel changes the level of a logger of [NewLogger], and of the loggers made from it. Others stay as they are.
func setLevel(log *slog.Logger, level string) {
	if h, ok := log.Handler().(leveled); ok {
		h.level.Set(levels[level])
	}
}
