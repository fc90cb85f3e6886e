package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/daemon"
	"vjob/db"
	"vjob/journal"
	"vjob/settings"
)

// tokenCommand is local administration: it works before the first account exists,
// and whether or not the daemon runs.
func (c *command) tokenCommand() *cobra.Command {
	var role, expires string
	create := &cobra.Command{
		Use:   "create USER",
		Short: "make a token, and the account if there is none; the secret is printed this once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			lifetime, err := settings.ParseDuration(expires)
			if err != nil {
				return cluster.BadField("--expires", expires, `a time such as "90d", or "0s" for never`)
			}
			if role != string(journal.RoleUser) && role != string(journal.RoleAdmin) {
				return cluster.BadField("--role", role, "user or admin")
			}
			s, err := c.settings()
			if err != nil {
				return err
			}
			secret, err := createToken(cmd.Context(), &s, args[0], journal.Role(role), lifetime)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, secret)
			return err
		},
	}
	create.Flags().StringVar(&role, "role", "user", "`ROLE` of a new account: user or admin")
	create.Flags().StringVar(&expires, "expires", "0s", "`TIME` until it is worthless, such as 90d; 0s is never")
	token := &cobra.Command{Use: "token", Short: "manage tokens on this machine"}
	token.AddCommand(create)
	return token
}

// createToken asks the daemon if it runs, else it writes to the database itself.
func createToken(ctx context.Context, s *settings.Settings, user string, role journal.Role, lifetime time.Duration) (string, error) {
	secret, err := askDaemon(ctx, s, user, role, lifetime)
	if !errors.Is(err, cluster.ErrUnavailable) {
		return secret, err
	}
	if err := os.MkdirAll(s.State, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	store, err := db.Open(s.Database()) //nolint:contextcheck // opening cannot be interrupted
	if err != nil {
		return "", err
	}
	now := time.Now()
	var until time.Time
	if lifetime > 0 {
		until = now.Add(lifetime)
	}
	secret, err = daemon.CreateToken(ctx, store, user, role, now, until)
	return secret, errors.Join(err, store.Close())
}

func askDaemon(ctx context.Context, s *settings.Settings, user string, role journal.Role, lifetime time.Duration) (string, error) {
	api, err := client.New(client.Settings{Server: "unix://" + s.Listen.Socket, Agent: "vjobd", Retries: -1})
	if err != nil {
		return "", err
	}
	defer api.Close()
	users, err := api.Users(ctx)
	if err != nil {
		return "", err
	}
	known := ""
	for _, u := range users.Users {
		if u.Name == user {
			known = u.Role
		}
	}
	switch known {
	case string(role):
	case "":
		if _, err := api.CreateUser(ctx, wire.User{Name: user, Role: string(role)}); err != nil {
			return "", err
		}
	default:
		return "", cluster.BadField("--role", string(role), "the role that the account has: "+known)
	}
	token, err := api.CreateToken(ctx, user, lifetime)
	return token.Secret, err
}
