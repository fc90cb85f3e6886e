package script

// File is a script that was read.
type File struct {
	Body Block
	src  *source
}

// Block is statements one after another.
type Block struct {
	List []Stmt
	Tail []string // comments after the last one
}

// Comments are those that belong to a statement.
type Comments struct {
	Before []string // "# text"; an empty one is an empty line
	After  string   // behind it on its line
}

// Stmt is one of [Assign], [For] and [Call].
type Stmt interface {
	comments() *Comments
	stmt()
}

// Assign is "$name = value;".
type Assign struct {
	Comments
	Pos   Pos // of the name
	Name  string
	Value Expr
}

// For is "for $name in list { … }".
type For struct {
	Comments
	Pos  Pos // of the name
	Name string
	In   Expr
	Body Block
}

// Mode is the form of a rule that is asked for.
type Mode uint8

// The forms. Unsaid is the discrete one, if the rule has it.
const (
	Unsaid Mode = iota
	Discrete
	Continuous
)

// Strength says whether a rule without a penalty may be dropped.
type Strength uint8

// The strengths ("VMware Distributed Resource Management", 2012, §3.3.1).
const (
	Unstated  Strength = iota // mandatory, unless the rule has a penalty
	Mandatory                 // never broken
	Preferred                 // dropped if it cannot be kept together with the mandatory rules and the capacity of nodes
)

// Call is "continuous soft(5) spread(vms);".
type Call struct {
	Comments
	Pos     Pos // of the whole
	RulePos Pos
	ModePos Pos
	Mode    Mode
	Penalty Expr // nil: a hard rule, or a preferred one
	Strength
	StrengthPos Pos
	Rule        string
	Args        []Arg
}

// Arg is "value" or "name=value".
type Arg struct {
	Pos   Pos
	Name  string // "" when it is meant by its place
	Value Expr
}

func (c *Comments) comments() *Comments { return c }

func (*Assign) stmt() {}
func (*For) stmt()    {}
func (*Call) stmt()   {}

// Expr is one of [Word], [Pattern], [Var], [Family], [Braces], [Binary], [Cast],
// [Labelled] and [Bad].
type Expr interface{ At() Pos }

// Word is a name or a number; what it means is known where it is used.
type Word struct {
	Pos  Pos
	Text string
}

// Pattern is names with ranges: "web[01..12].example". It has at least one range.
type Pattern struct {
	Pos   Pos
	Parts []Part
}

// Part is a text or a range.
type Part struct {
	Text  string
	Items []Item // nil for a text
}

// Item is "7", "1..5" or "$i" within a range.
type Item struct {
	Pos      Pos
	From, To Bound
	Range    bool
}

// Bound is a text, or a variable that has one.
type Bound struct {
	Text string
	Var  bool
}

// Var is "$name".
type Var struct {
	Pos  Pos
	Name string
}

// Family is "$name[1..3]": $name1, $name2 and $name3.
type Family struct {
	Pos   Pos
	Name  string
	Items []Item
}

// Braces is "{a, b}": a set, or a list of sets.
type Braces struct {
	Pos  Pos
	List []Expr
}

// Binary is "x op y", where Op is one of + - & /.
type Binary struct {
	Pos  Pos // of the operator
	Op   byte
	X, Y Expr
}

// Cast is "vms(x)" or "nodes(x)": which are meant where a name is of both.
type Cast struct {
	Pos   Pos
	Nodes bool
	X     Expr
}

// Labelled is "nodes(rack=r1)": the nodes with that label.
type Labelled struct {
	Pos        Pos
	Key, Value string
}

// Bad is what could not be read.
type Bad struct{ Pos Pos }

// At is the place of the expression.
func (x *Word) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Pattern) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Var) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Family) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Braces) At() Pos { return x.Pos }

// At is the place of the expression, from its first term to its last.
func (x *Binary) At() Pos {
	first := x
	for {
		left, ok := first.X.(*Binary)
		if !ok {
			return first.X.At().to(x.Y.At())
		}
		first = left
	}
}

// At is the place of the expression.
func (x *Cast) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Labelled) At() Pos { return x.Pos }

// At is the place of the expression.
func (x *Bad) At() Pos { return x.Pos }
