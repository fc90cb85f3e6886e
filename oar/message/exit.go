package message

// Exit is an exit code of OAR's commands.
type Exit int

// The exit codes of oarsub.
const (
	ExitOption      Exit = 1   // an option, or a value of one, that there is not
	ExitUsage       Exit = 5   // no command, or more than one
	ExitArray       Exit = 6   // an array without sub-jobs
	ExitReservation Exit = 7   // a date that cannot be read
	ExitResources   Exit = 8   // properties that cannot be read, or more than there is
	ExitRefused     Exit = 10  // a reservation that cannot be had
	ExitScript      Exit = 12  // a script or parameter file that cannot be read
	ExitRequest     Exit = 18  // a resource description that cannot be read
	ExitQueue       Exit = 248 // no such queue
	ExitAdmission   Exit = 254 // an admission rule says no
)
