package admin

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// tokens are the commands about the tokens of one account.
type tokens struct {
	*cli.App
	user string // "": the caller
}

func tokenCommand(a *cli.App) *cobra.Command {
	t := &tokens{App: a}
	cmd := &cobra.Command{
		Use:   "token",
		Short: "list, make, rotate and revoke your tokens",
		Args:  cli.NoArguments,
	}
	cmd.PersistentFlags().StringVar(&t.user, "user", "", "the tokens of this `ACCOUNT` (administrators)")
	list := &cobra.Command{
		Use:   "list",
		Short: "list your tokens, without their secrets",
		Args:  cli.NoArguments,
	}
	t.listing(cmd)
	t.listing(list)
	cmd.AddCommand(list, t.createCommand(), t.rotateCommand(), t.revokeCommand())
	return cmd
}

// open connects, and finds the account.
func (t *tokens) open(ctx context.Context) (c *client.Client, user string, err error) {
	if c, err = t.Client(); err != nil || t.user != "" {
		return c, t.user, err
	}
	who, err := c.Whoami(ctx)
	return c, who.Name, err
}

// listing makes a command that lists the tokens.
func (t *tokens) listing(cmd *cobra.Command) {
	var l *cli.Listing[wire.TokenInfo]
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return t.list(cmd.Context(), l) }
	l = cli.List(t.App, cmd, tokenColumns(t.Now))
}

func (t *tokens) list(ctx context.Context, l *cli.Listing[wire.TokenInfo]) error {
	c, user, err := t.open(ctx)
	if err != nil {
		return err
	}
	list, err := c.Tokens(ctx, user)
	if err != nil {
		return err
	}
	return l.Show(list, list.Tokens)
}

// tokenColumns are the columns of tokens; now returns the time at which they are valid or expired.
func tokenColumns(now func() time.Time) []display.Field[wire.TokenInfo] {
	return []display.Field[wire.TokenInfo]{
		{Head: ">TOKEN", Cell: func(k *wire.TokenInfo) any { return k.ID }},
		{Head: "NAME", Cell: func(k *wire.TokenInfo) any { return k.Name }},
		{Head: "CREATED", Cell: func(k *wire.TokenInfo) any { return k.Created }},
		{Head: "EXPIRES", Cell: func(k *wire.TokenInfo) any { return display.Shown{Text: expiry(k.Expires), Value: k.Expires} }},
		{Head: "LAST_USED", Cell: func(k *wire.TokenInfo) any { return k.Used }},
		{Head: "STATE", Cell: func(k *wire.TokenInfo) any { return tokenState(k, now()) }},
	}
}

func tokenState(k *wire.TokenInfo, now time.Time) string {
	switch {
	case k.Revoked:
		return "revoked"
	case k.Expires != nil && k.Expires.Before(now):
		return "expired"
	}
	return "valid"
}

func expiry(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return display.Moment(at)
}

func (t *tokens) createCommand() *cobra.Command {
	var body wire.TokenRequest
	var expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "make a token; its secret is printed this once",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			body.Never = expires == "never"
			if !body.Never && expires != "" {
				lifetime, err := cluster.ParseDuration(expires)
				if err != nil || lifetime < time.Second {
					return cluster.BadField("--expires", expires, "a time such as 30d, or never")
				}
				body.ExpiresInSeconds = int64(lifetime / time.Second)
			}
			c, user, err := t.open(cmd.Context())
			if err != nil {
				return err
			}
			token, err := c.CreateToken(cmd.Context(), user, body)
			if err != nil {
				return err
			}
			return t.reveal(&token)
		},
	}
	cmd.Flags().StringVar(&body.Name, "name", "", "`NAME` by which you will know it, such as laptop")
	cmd.Flags().StringVar(&expires, "expires", "", "`TIME` until it is worthless, such as 30d, or never (administrators); without it what the site has set")
	return cmd
}

// reveal prints a secret, and to people on the error output what it belongs to.
func (t *tokens) reveal(token *wire.Token) error {
	if !t.Structured() {
		_, _ = fmt.Fprintf(t.Err, "token %d of %s, expires: %s; the secret is not kept:\n", token.ID, display.Clean(token.User), expiry(token.Expires))
	}
	return say(t.App, token, "%s\n", display.Clean(token.Secret))
}

func (t *tokens) rotateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate TOKEN",
		Short: "make a token in place of another, which is revoked",
		Args:  cli.Arguments(1, "the number of a token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.one(cmd.Context(), args[0], func(c *client.Client, user string, id int64) error {
				token, err := c.RotateToken(cmd.Context(), user, id)
				if err != nil {
					return err
				}
				return t.reveal(&token)
			})
		},
	}
}

func (t *tokens) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "make a token worthless, by its number",
		Args:  cli.Arguments(1, "the number of a token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.one(cmd.Context(), args[0], func(c *client.Client, user string, id int64) error {
				if err := c.RevokeToken(cmd.Context(), user, id); err != nil {
					return err
				}
				return say(t.App, map[string]int64{"revoked": id}, "token %d of %s revoked\n", id, display.Clean(user))
			})
		},
	}
}

// one does something with the token of a number.
func (t *tokens) one(ctx context.Context, number string, do func(c *client.Client, user string, id int64) error) error {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id < 1 {
		return cluster.BadField("token", number, "the number of a token (see vjob token list)")
	}
	c, user, err := t.open(ctx)
	if err != nil {
		return err
	}
	return do(c, user, id)
}
