package repack

// Kind is what an action does.
type Kind uint8

// The actions. Allocate gives a VM that stays its next demand; it takes no time
// and does not count in the makespan.
const (
	Migrate Kind = iota
	Boot
	Shutdown
	Suspend
	Resume
	NodeOff
	NodeOn
	Allocate
)

// Kinds are the words of plan files, in the order of the constants.
var Kinds = [...]string{"migrate", "boot", "shutdown", "suspend", "resume", "node_off", "node_on", "allocate"}

// String is the word that plan files use.
func (k Kind) String() string { return Kinds[k] }

// OnNode reports whether the action switches a node.
func (k Kind) OnNode() bool { return k == NodeOff || k == NodeOn }

// Action is one step of a plan, in the half-open interval from Start to End.
type Action struct {
	Kind  Kind
	VM    int // Nowhere for what is done to a node
	From  int // where the VM runs or its image lies; Nowhere
	To    int // where it will run; for what is done to a node, and Allocate, the node
	Start Ticks
	End   Ticks
	// Rate is what the action may use of each link that it crosses from Start to End,
	// as an amount per tick; 0 if none of them has a limit.
	Rate int64
	// After are the actions, by index, that must have ended before this one may start. An
	// execution that follows them may be late or early and stays feasible, if it also keeps to
	// [Node.Transfers]: actions do not wait for transfer slots by name.
	After []int
}

// Plan leads from the present configuration of an instance to the wanted one.
type Plan struct {
	Actions []Action
}

// Figures are the measures of a plan.
type Figures struct {
	Objective   int64 // equation (2): weighted completion times of the actions on VMs
	All         int64 // with those on nodes
	Makespan    Ticks
	Migrations  int
	Cost        int64           // K of thesis eq. 8.1, see [Instance.Cost]
	Count       [len(Kinds)]int // of each kind of action
	Penalty     int64           // of the soft rules that are broken
	GrowthDelay Ticks           // sum over the VMs that stay and grow of how long they wait for their share
	NodesUsed   int             // nodes that run something at the end
}
