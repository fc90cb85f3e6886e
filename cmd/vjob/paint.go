package main

// The ANSI colours that are used.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
	magenta = "35"
	cyan    = "36"
	grey    = "90"
	bold    = "1"
)

// colourOf is the colour of a word that names a state; "" is none.
var colourOf = map[string]string{
	"running": green, "done": green, "online": green,
	"booting": cyan, "resuming": cyan, "migrating": magenta,
	"suspending": yellow, "suspended": yellow, "paused": yellow, "draining": yellow, "pending": grey,
	"stopping": grey, "terminated": grey, "offline": grey, "dropped": grey, "waiting": blue,
	"failed": red, "down": red, "silent": red, "alarm": red,
}

// coloured puts a colour around text.
func coloured(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// paint colours the cells that hold states.
func paint(column, cell string) string {
	if column != "STATE" && column != "KIND" {
		return cell
	}
	return coloured(colourOf[cell], cell)
}
