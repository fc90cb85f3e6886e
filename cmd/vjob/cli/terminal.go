package cli

import "vjob/cmd/console"

// Terminal is that of the program.
func (a *App) Terminal() *console.Terminal {
	return &console.Terminal{In: a.In, Out: a.Out, Err: a.Err, Getenv: a.Getenv}
}
