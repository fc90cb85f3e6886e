package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/settings"
)

func (a *app) usersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "list the accounts and manage their tokens (administrators)",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Users(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table {
				t := &table{heads: heads("USER ROLE")}
				for _, u := range list.Users {
					t.row(u.Name, u.Role)
				}
				return t
			})
		},
	}
	cmd.AddCommand(a.addUser(), a.deleteUser(), a.createToken(), a.listTokens(), a.revokeToken())
	return cmd
}

func (a *app) addUser() *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use:   "add USER",
		Short: "add an account",
		Args:  arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			user, err := c.CreateUser(cmd.Context(), wire.User{Name: args[0], Role: role})
			if err != nil {
				return err
			}
			return a.say(user, "user %s added, role %s\n", clean(user.Name), clean(user.Role))
		},
	}
	cmd.Flags().StringVar(&role, "role", "user", "`ROLE`: user or admin")
	complete(cmd, "role", "user", "admin")
	return cmd
}

func (a *app) deleteUser() *cobra.Command {
	return &cobra.Command{
		Use:   "delete USER",
		Short: "remove an account and its tokens",
		Args:  arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := c.DeleteUser(cmd.Context(), args[0]); err != nil {
				return err
			}
			return a.say(map[string]string{"deleted": args[0]}, "user %s removed\n", clean(args[0]))
		},
	}
}

func (a *app) createToken() *cobra.Command {
	var expires string
	cmd := &cobra.Command{
		Use:   "token USER",
		Short: "make a token; its secret is printed this once",
		Args:  arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			lifetime, err := settings.ParseDuration(expires)
			if err != nil {
				return renamed(err, "--expires")
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			token, err := c.CreateToken(cmd.Context(), args[0], lifetime)
			if err != nil {
				return err
			}
			if !a.json() {
				_, _ = fmt.Fprintf(a.err, "token %d of %s, expires: %s; the secret is not kept:\n", token.ID, clean(token.User), moment(token.Expires))
			}
			return a.say(token, "%s\n", clean(token.Secret))
		},
	}
	cmd.Flags().StringVar(&expires, "expires", "0s", "`TIME` until it is worthless, such as 90d; 0s is never")
	return cmd
}

func (a *app) listTokens() *cobra.Command {
	return &cobra.Command{
		Use:   "tokens USER",
		Short: "list the tokens of an account",
		Args:  arguments(1, "the name of a user"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Tokens(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(list, func() *table {
				t := &table{heads: heads(">TOKEN USER CREATED EXPIRES STATE")}
				for i := range list.Tokens {
					k := &list.Tokens[i]
					state := "valid"
					if k.Revoked {
						state = "revoked"
					} else if k.Expires != nil && k.Expires.Before(a.now()) {
						state = "expired"
					}
					t.row(strconv.FormatInt(k.ID, 10), k.User, moment(&k.Created), moment(k.Expires), state)
				}
				return t
			})
		},
	}
}

func (a *app) revokeToken() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "make a token worthless, by its number",
		Args:  arguments(1, "the number of a token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return cluster.BadField("token", args[0], "the number of a token (see vjob users tokens)")
			}
			c, err := a.client()
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
			return a.say(map[string]int64{"revoked": id}, "token %d of %s revoked\n", id, clean(user))
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
func (a *app) say(v any, format string, args ...any) error {
	if a.json() {
		return printJSON(a.out, v, true)
	}
	_, err := fmt.Fprintf(a.out, format, args...)
	return err
}
