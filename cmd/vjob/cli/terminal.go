package cli

import "vjob/terminal"

// Terminal is that of the program.
func (a *App) Terminal() *terminal.Terminal {
	return &terminal.Terminal{In: a.In, Out: a.Out, Err: a.Err, Getenv: a.Getenv}
}
