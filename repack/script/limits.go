package script

// The limits of a script. What exceeds one is refused with a diagnostic that says so.
const (
	// MaxSource is the most bytes of a script.
	MaxSource = 1 << 20
	// MaxName is the most bytes of one name.
	MaxName = 255
	// MaxDepth is how deep brackets and loops may stand in each other.
	MaxDepth = 64
	// MaxTerms is the most operators between the terms of one expression.
	MaxTerms = 1000
	// MaxSet is the most members of a set, and the most sets of a list.
	MaxSet = 100_000
	// MaxRules is the most rules that one script may state.
	MaxRules = 10_000
	// MaxSteps bounds the work: each member of each set that is made or handed to a
	// rule is one step, and each statement that is run, or run again, is ten.
	MaxSteps = 10_000_000
	// MaxPenalty is the most that a breach of a soft rule may cost.
	MaxPenalty = 1_000_000_000_000
	// PreferredPenalty is the penalty of a breach of a preferred rule where all rules cannot be kept: more than
	// any time that a plan could save.
	PreferredPenalty = 1_000_000
	// MaxProblems bounds the reported errors, and the reported warnings.
	MaxProblems = 20
	// MaxText is how many bytes of diagnostics a message has at most, beside its first.
	MaxText = 5000
)
