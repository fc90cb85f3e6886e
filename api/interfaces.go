package api

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/energy/power/cycle"
	"vjob/queue/ordering"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Scheduler is the part of the scheduler that the API uses. What it returns wraps the sentinels
// of package cluster.
type Scheduler interface {
	// Submit accepts a vjob; it is durable on return. created is false when the
	// owner used the key before: the vjob is then the one of that time.
	Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error)
	// Order gives an order to a vjob on behalf of a user; it is durable on return, and carried
	// out later.
	Order(ctx context.Context, id cluster.VJobID, order scheduler.Order, by string) error
	// OrderArray asks it of every vjob of an array to which it applies. After an error that
	// is neither ErrNotFound nor ErrConflict some may have followed.
	OrderArray(ctx context.Context, array cluster.VJobID, order scheduler.Order, by string) error
	// Orphans lists the saved VMs that no vjob is saved in.
	Orphans(ctx context.Context) ([]scheduler.Orphan, error)
	// DiscardImage deletes one of them, by its name; it is durable on return, and carried
	// out later.
	DiscardImage(ctx context.Context, name, by string) error
	// Restore goes back to kept images of a vjob, of the newest generation if it is 0; it is
	// durable on return, and carried out later.
	Restore(ctx context.Context, id cluster.VJobID, generation int, by string) error
	// SetWalltime gives a vjob another walltime; it is durable on return.
	SetWalltime(ctx context.Context, s scheduler.WalltimeChange) error
	// SetNodes asks for another state of some nodes, of all or none.
	SetNodes(ctx context.Context, nodes []cluster.NodeID, state cluster.NodeState, act journal.Audit) error
	// SetPower asks for a node to be switched off, once it is empty, or on.
	SetPower(ctx context.Context, node cluster.NodeID, want cycle.Want, act journal.Audit) error
	// SetRules replaces the placement rules of the cluster; what is wrong with them is a
	// *cluster.FieldError.
	SetRules(ctx context.Context, text string, act journal.Audit) error
	// SetBudgets replaces the power budgets; what is wrong with them is a
	// *cluster.FieldError.
	SetBudgets(ctx context.Context, lines []budget.Budget, act journal.Audit) error
	// Disown tells that what a user has used is that of a former user from now on.
	Disown(ctx context.Context, user, former string) error
	// CheckBudgets says what is wrong with such budgets, and changes nothing.
	CheckBudgets(ctx context.Context, lines []budget.Budget) error
	// SetPrices replaces the prices of energy, CSV; what is wrong with them is a
	// *cluster.FieldError.
	SetPrices(ctx context.Context, text string, act journal.Audit) error
	// CheckPrices says what is wrong with such prices, and changes nothing.
	CheckPrices(ctx context.Context, text string) error
	// CheckRules says what is wrong with such rules, and changes nothing.
	CheckRules(ctx context.Context, text string) error
	// WhatIf says what would be decided if things were otherwise.
	WhatIf(ctx context.Context, s scheduler.WhatIf) (scheduler.WhatIfResult, error)
	// QueueStatus returns how queues, quotas and shares stand now.
	QueueStatus(ctx context.Context) (ordering.Status, error)
	// Forecast returns the expected schedule.
	Forecast(ctx context.Context) (scheduler.QueueForecast, error)
	// Snapshot is the latest state of the loop; nil before there is one.
	Snapshot() *scheduler.Snapshot
}

// Reader reads what is kept.
type Reader interface {
	// VJobs lists the vjobs of the filter and counts them without its Offset and
	// Limit.
	VJobs(ctx context.Context, f journal.Filter) (rows []journal.Row, total int, err error)
	VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error)
	// Events lists events, oldest first.
	Events(ctx context.Context, f journal.EventFilter) ([]journal.Event, error)
	// Plans lists the latest plans before the given one, or of all when it is 0.
	Plans(ctx context.Context, limit int, before journal.PlanID) ([]journal.PlanRow, error)
	Plan(ctx context.Context, id journal.PlanID) (journal.PlanDetail, error)
	// Energy adds up what was drawn, by the hour.
	Energy(ctx context.Context, f journal.EnergyFilter) ([]journal.EnergyRow, error)
}

// Accounts keeps users, tokens and the audit list. What changes is written together with its
// entry of the audit list.
type Accounts interface {
	// CreateUser adds an account; a name that exists is cluster.ErrConflict.
	CreateUser(ctx context.Context, user journal.User, act journal.Audit) error
	Users(ctx context.Context) ([]journal.User, error)
	User(ctx context.Context, name string) (journal.User, error)
	ChangeUser(ctx context.Context, name string, change journal.UserChange, act journal.Audit) error
	// DeleteUser deletes an account and its tokens, and returns the owner that its ended vjobs
	// have from now on.
	DeleteUser(ctx context.Context, name string, act journal.Audit) (former string, err error)
	// Admit finds the account of a local user, or fails with cluster.ErrForbidden and the reason.
	Admit(ctx context.Context, l journal.LocalUser, now time.Time) (journal.User, error)
	// CreateToken keeps the hash of a token. The entry of the audit list needs no object.
	CreateToken(ctx context.Context, n journal.NewToken, act journal.Audit) (id int64, err error)
	// UserByToken finds the user of a token that is neither revoked nor expired, and its number,
	// or fails with cluster.ErrUnauthenticated.
	UserByToken(ctx context.Context, hash [sha256.Size]byte, now time.Time) (user journal.User, token int64, err error)
	Tokens(ctx context.Context, user string) ([]journal.Token, error)
	// RevokeToken makes a token worthless; doing it again changes nothing.
	RevokeToken(ctx context.Context, user string, id int64, act journal.Audit) error
	// NoteUse writes when tokens were last used.
	NoteUse(ctx context.Context, used map[int64]time.Time) error
	// Audit lists entries, the latest first; WriteAudit adds one of what is not written otherwise.
	Audit(ctx context.Context, f journal.AuditFilter) ([]journal.Audit, error)
	WriteAudit(ctx context.Context, a journal.Audit) error
}

// Console opens what the guest of a VM has printed since its first boot. A VM
// that never printed is cluster.ErrNotFound.
type Console interface {
	Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error)
}

// Attacher opens interactive consoles of VMs. A VM that is not on the node, or has no such
// console, is cluster.ErrConflict.
type Attacher interface {
	Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error)
}

// Catalogue is the administrator's list of images.
type Catalogue interface {
	Images(ctx context.Context) ([]wire.Image, error)
}
