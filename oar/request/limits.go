package request

// The limits of a request. What exceeds one is refused with a message that says so.
const (
	// MaxText is the most bytes of one -l.
	MaxText = 64 << 10
	// MaxAlternatives is how often -l may be given.
	MaxAlternatives = 100
	// MaxGroups is the most groups of an alternative.
	MaxGroups = 1000
	// MaxLevels is the most levels of a group.
	MaxLevels = 32
	// MaxDigits is the most digits of a count.
	MaxDigits = 30
)
