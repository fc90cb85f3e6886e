package daemon

// SetLevel changes the level of a logger.
var SetLevel = setLevel
