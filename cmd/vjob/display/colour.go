package display

// The ANSI colours that are used.
const (
	Red     = "31"
	Green   = "32"
	Yellow  = "33"
	blue    = "34"
	magenta = "35"
	Cyan    = "36"
	Grey    = "90"
	Bold    = "1"
)

// ColourOf returns the colour of a state, or "".
var ColourOf = map[string]string{
	"running": Green, "done": Green, "online": Green,
	"booting": Cyan, "resuming": Cyan, "migrating": magenta,
	"suspending": Yellow, "suspended": Yellow, "paused": Yellow, "draining": Yellow, "pending": Grey,
	"stopping": Grey, "terminated": Grey, "offline": Grey, "dropped": Grey, "waiting": blue,
	"green": Green, "yellow": Yellow, "red": Red,
	"failed": Red, "down": Red, "silent": Red, "alarm": Red,
}

// Coloured puts a colour around text.
func Coloured(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Paint colours the cells that hold states.
func Paint(column, cell string) string {
	if column != "STATE" && column != "KIND" {
		return cell
	}
	return Coloured(ColourOf[cell], cell)
}
