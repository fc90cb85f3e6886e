package cli

import "vjob/cmd/program"

// Terminal is that of the program.
func (a *App) Terminal() *program.Terminal {
	return &program.Terminal{In: a.In, Out: a.Out, Err: a.Err, Getenv: a.Getenv}
}
