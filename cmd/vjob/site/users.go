package site

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/parse"
	"vjob/cmd/vjob/plain"
	"vjob/settings"
)

func usersCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "list the accounts and manage their tokens (administrators)",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Users(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *plain.Table {
				t := &plain.Table{Heads: plain.Heads("USER ROLE")}
				for _, u := range list.Users {
					t.Row(u.Name, u.Role)
				}
				return t
			})
		},
	}
	cmd.AddCommand(addUser(a), deleteUser(a), createToken(a), listTokens(a), revokeToken(a))
	return cmd
}

func addUser(a *cli.App) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use:   "add USER",
		Short: "add an account",
		Args:  cli.Arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			user, err := c.CreateUser(cmd.Context(), wire.User{Name: args[0], Role: role})
			if err != nil {
				return err
			}
			return say(a, user, "user %s added, role %s\n", plain.Clean(user.Name), plain.Clean(user.Role))
		},
	}
	cmd.Flags().StringVar(&role, "role", "user", "`ROLE`: user or admin")
	cli.Complete(cmd, "role", "user", "admin")
	return cmd
}

func deleteUser(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "delete USER",
		Short: "remove an account and its tokens",
		Args:  cli.Arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if err := c.DeleteUser(cmd.Context(), args[0]); err != nil {
				return err
			}
			return say(a, map[string]string{"deleted": args[0]}, "user %s removed\n", plain.Clean(args[0]))
		},
	}
}

func createToken(a *cli.App) *cobra.Command {
	var expires string
	cmd := &cobra.Command{
		Use:   "token USER",
		Short: "make a token; its secret is printed this once",
		Args:  cli.Arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			lifetime, err := settings.ParseDuration(expires)
			if err != nil {
				return parse.Renamed(err, "--expires")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			token, err := c.CreateToken(cmd.Context(), args[0], lifetime)
			if err != nil {
				return err
			}
			if !a.JSON() {
				_, _ = fmt.Fprintf(a.Err, "token %d of %s, expires: %s; the secret is not kept:\n", token.ID, plain.Clean(token.User), plain.Moment(token.Expires))
			}
			return say(a, token, "%s\n", plain.Clean(token.Secret))
		},
	}
	cmd.Flags().StringVar(&expires, "expires", "0s", "`TIME` until it is worthless, such as 90d; 0s is never")
	return cmd
}

func listTokens(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "tokens USER",
		Short: "list the tokens of an account",
		Args:  cli.Arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Tokens(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Show(list, func() *plain.Table {
				t := &plain.Table{Heads: plain.Heads(">TOKEN USER CREATED EXPIRES STATE")}
				for i := range list.Tokens {
					k := &list.Tokens[i]
					state := "valid"
					if k.Revoked {
						state = "revoked"
					} else if k.Expires != nil && k.Expires.Before(a.Now()) {
						state = "expired"
					}
					t.Row(strconv.FormatInt(k.ID, 10), k.User, plain.Moment(&k.Created), plain.Moment(k.Expires), state)
				}
				return t
			})
		},
	}
}

func revokeToken(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "make a token worthless, by its number",
		Args:  cli.Arguments(1, "the number of a token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return cluster.BadField("token", args[0], "the number of a token (see vjob users tokens)")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			user, err := ownerOf(cmd.Context(), c, id)
			if err != nil {
				return err
			}
			if err := c.RevokeToken(cmd.Context(), user, id); err != nil {
				return err
			}
			return say(a, map[string]int64{"revoked": id}, "token %d of %s revoked\n", id, plain.Clean(user))
		},
	}
}

// ownerOf finds whose token a number is.
func ownerOf(ctx context.Context, c *client.Client, id int64) (string, error) {
	users, err := c.Users(ctx)
	if err != nil {
		return "", err
	}
	for _, u := range users.Users {
		list, err := c.Tokens(ctx, u.Name)
		if err != nil {
			return "", err
		}
		for _, t := range list.Tokens {
			if t.ID == id {
				return u.Name, nil
			}
		}
	}
	return "", fmt.Errorf("token %d: %w", id, cluster.ErrNotFound)
}

// say prints a value as JSON, or a line for people.
func say(a *cli.App, v any, format string, args ...any) error {
	if a.JSON() {
		return cli.PrintJSON(a.Out, v, true)
	}
	_, err := fmt.Fprintf(a.Out, format, args...)
	return err
}
