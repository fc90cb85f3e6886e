package submission

import "vjob/oar/message"

// Exit codes of oarsub that only a submission has.
const (
	exitInteractive message.Exit = 9
	exitNoop        message.Exit = 17
	exitStderr      message.Exit = 243
	exitStdout      message.Exit = 244
	exitNotify      message.Exit = 250
)
