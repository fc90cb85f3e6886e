package submission

import "vjob/oar/message"

// Exit codes of oarsub that only a submission has.
const (
	exitResubmit    message.Exit = 4
	exitInteractive message.Exit = 9
	exitInsecure    message.Exit = 16
	exitNoop        message.Exit = 17
	exitStderr      message.Exit = 243
	exitStdout      message.Exit = 244
	exitNotify      message.Exit = 250
)
