package property

// The limits of an expression. What exceeds one is refused with a message that says
// so.
const (
	// MaxText is the most bytes of an expression.
	MaxText = 64 << 10
	// MaxDepth is how deep parentheses, and NOT after NOT, may stand in each other.
	MaxDepth = 64
	// MaxTerms is the most conditions of an expression, and the most values of a list.
	MaxTerms = 1000
)
