package disk

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Create   Kind = iota // makes an inode and its name
	Link                 // gives an inode another name
	Unlink               // takes a name away
	Rename               // replaces the name To by Name, within a folder
	Write                // puts Data at Offset
	Truncate             // makes Offset the size
	Sync                 // makes durable what was done before Since
	Mark                 // does nothing: Text is what the program reported at this moment
)

// Op is one operation, at the moment when it returned; a mark stands where the program
// began to write it.
type Op struct {
	Kind     Kind
	Inode    int    // which file or folder; of a rename, that of Name
	IsFolder bool   // of Create
	Folder   int    // where Name is
	Name, To string // without slashes
	Offset   int64
	Data     []byte
	Since    int // the sync covers the operations of a smaller index: they had returned when it was called
	Text     string
}

// Root is the inode of the folder that is recorded. It exists from the beginning.
const Root = 0

// Log is what was done below one folder.
type Log struct {
	Ops   []Op
	Start int // operations before it made what was there, durably, before the recording
}

// Append adds an operation and returns its index.
func (l *Log) Append(op Op) int {
	l.Ops = append(l.Ops, op)
	return len(l.Ops) - 1
}

// Marks are the texts of the marks among the first n operations.
func (l *Log) Marks(n int) []string {
	var texts []string
	for i := range l.Ops[:n] {
		if op := &l.Ops[i]; op.Kind == Mark && op.Text != "" {
			texts = append(texts, op.Text)
		}
	}
	return texts
}

// Without is the log without the syncs of some files or folders, which are chosen by
// their last name: what a program would have done that forgets them.
func (l *Log) Without(forgets func(name string, isFolder bool) bool) *Log {
	type names struct {
		last     string
		isFolder bool
	}
	known := map[int]names{Root: {"", true}}
	out := &Log{Start: l.Start}
	for i := range l.Ops {
		op := l.Ops[i]
		switch op.Kind {
		case Create:
			known[op.Inode] = names{op.Name, op.IsFolder}
		case Rename:
			known[op.Inode] = names{op.To, known[op.Inode].isFolder}
		case Sync:
			if n := known[op.Inode]; i >= l.Start && forgets(n.last, n.isFolder) {
				op = Op{Kind: Mark} // the indices stay what they are
			}
		default:
		}
		out.Append(op)
	}
	return out
}
