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
	"vjob/ctxswitch/journal"
	"vjob/daemon"
	"vjob/daemon/settings"
)

// tokenCommand is local administration: it works before the first account exists,
// and whether or not the daemon runs.
func (c *command) tokenCommand() *cobra.Command {
	var role, name, expires string
	create := &cobra.Command{
		Use:   "create USER",
		Short: "make a token, and its account if it is missing; the secret is printed only this once",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := tokenRequest(name, expires)
			if err != nil {
				return err
			}
			if role != string(journal.RoleUser) && role != string(journal.RoleAdmin) {
				return cluster.BadField("--role", role, "user or admin")
			}
			s, err := c.settings()
			if err != nil {
				return err
			}
			secret, err := createToken(cmd.Context(), &s, args[0], journal.Role(role), request)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, secret)
			return err
		},
	}
	create.Flags().StringVar(&role, "role", "user", "`ROLE` of a new account: user or admin")
	create.Flags().StringVar(&expires, "expires", "", "`TIME` until it is worthless, such as 30d, or never; without it what accounts.token_lifetime says")
	create.Flags().StringVar(&name, "name", "", "`NAME` by which it will be known, such as laptop")
	token := &cobra.Command{Use: "token", Short: "manage tokens on this machine"}
	token.AddCommand(create)
	return token
}

// tokenRequest reads the flags of a token.
func tokenRequest(name, expires string) (r wire.TokenRequest, err error) {
	r.Name = name
	if name != "" {
		err = cluster.CheckName("--name", name)
	}
	switch expires {
	case "":
	case "never":
		r.Never = true
	default:
		lifetime, wrong := cluster.ParseDuration(expires)
		if wrong != nil || lifetime < time.Second {
			return r, cluster.BadField("--expires", expires, `a time such as "90d", or "never"`)
		}
		r.ExpiresInSeconds = int64(lifetime / time.Second)
	}
	return r, err
}

// createToken asks the daemon if it runs, else it writes to the database itself.
func createToken(ctx context.Context, s *settings.Settings, user string, role journal.Role, r wire.TokenRequest) (string, error) {
	secret, err := askDaemon(ctx, s, user, role, r)
	if !errors.Is(err, cluster.ErrUnavailable) {
		return secret, err
	}
	store, err := daemon.OpenStore(s) //nolint:contextcheck // opening cannot be interrupted
	if err != nil {
		return "", err
	}
	act := journal.Audit{At: time.Now(), From: fmt.Sprintf("uid %d, the daemon was down", os.Getuid())}
	token := journal.NewToken{User: user, Name: r.Name}
	lifetime := s.Accounts.TokenLifetime.Duration
	if r.ExpiresInSeconds > 0 || r.Never {
		lifetime = time.Duration(r.ExpiresInSeconds) * time.Second
	}
	if lifetime > 0 {
		token.Expires = act.At.Add(lifetime)
	}
	secret, err = daemon.CreateToken(ctx, store, token, role, act)
	return secret, errors.Join(err, store.Close())
}

func askDaemon(ctx context.Context, s *settings.Settings, user string, role journal.Role, r wire.TokenRequest) (string, error) {
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
	token, err := api.CreateToken(ctx, user, r)
	return token.Secret, err
}
