package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func accountsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "accounts",
		Aliases: []string{"users"},
		Short:   "list and change the accounts (administrators)",
	}
	cli.ListCommand(a, cmd, accountColumns, func(ctx context.Context, c *client.Client) (any, []wire.User, error) {
		list, err := c.Users(ctx)
		return list, list.Users, err
	})
	cmd.AddCommand(addAccount(a), changeAccount(a), deleteAccount(a),
		switchAccount(a, "disable", "refuse all requests of an account; its vjobs go on, and nothing is deleted", true),
		switchAccount(a, "enable", "let an account in again that was disabled", false))
	return cmd
}

// accountColumns are the columns of accounts.
var accountColumns = []display.Field[wire.User]{
	{Head: "ACCOUNT", Cell: func(u *wire.User) any { return u.Name }},
	{Head: "ROLE", Cell: func(u *wire.User) any { return u.Role }},
	{Head: "STATE", Cell: accountState},
	{Head: "LOCAL", Cell: func(u *wire.User) any { return u.Local }},
	{Head: ">UID", Cell: uid},
	{Head: "GROUPS", Cell: func(u *wire.User) any { return groupsOf(u) }},
	{Head: "CREATED", Cell: func(u *wire.User) any { return u.Created }},
}

func accountState(u *wire.User) any {
	if u.Disabled {
		return "disabled"
	}
	return "enabled"
}

func uid(u *wire.User) any {
	if u.UID == nil {
		return nil
	}
	return int64(*u.UID)
}

// groupsOf are the groups of an account for people.
func groupsOf(u *wire.User) string {
	switch {
	case u.Local:
		return "of the system"
	case u.Groups == nil:
		return "unknown"
	case len(*u.Groups) == 0:
		return "none"
	}
	return strings.Join(*u.Groups, ",")
}

// groupsFlag adds the flag for the groups of an account; read tells them, nil where the flag
// was not given.
func groupsFlag(cmd *cobra.Command) (read func() *[]string) {
	var groups []string
	cli.WordsVar(cmd.Flags(), &groups, "groups", nil, "`GROUPS` of an account that is not local, such as physics,staff; none: in no group")
	return func() *[]string {
		switch {
		case !cmd.Flags().Changed("groups"):
			return nil
		case len(groups) == 1 && groups[0] == "none":
			return &[]string{}
		}
		return &groups
	}
}

func addAccount(a *cli.App) *cobra.Command {
	var user wire.User
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "add an account",
		Args:  cli.Arguments(1, "the name of an account"),
	}
	groups := groupsFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.Client()
		if err != nil {
			return err
		}
		user.Name, user.Groups = args[0], groups()
		added, err := c.CreateUser(cmd.Context(), user)
		if err != nil {
			return err
		}
		return say(a, added, "account %s added, role %s\n", display.Clean(added.Name), display.Clean(added.Role))
	}
	roleFlag(cmd, &user.Role, "user")
	cmd.Flags().BoolVar(&user.Local, "local", false, "it is that of the local user of this name, without a token on the socket")
	return cmd
}

func roleFlag(cmd *cobra.Command, role *string, usual string) {
	cmd.Flags().StringVar(role, "role", usual, "`ROLE`: user or admin")
	cli.Complete(cmd, "role", "user", "admin")
}

func changeAccount(a *cli.App) *cobra.Command {
	var role string
	var local bool
	cmd := &cobra.Command{
		Use:   "change NAME",
		Short: "change the role or the groups of an account, or its link with the local user",
		Long: `Changes an account. --local links it with the local user of the same name, who then needs no
token on the socket; --local=false takes the link away. Given again, --local links the account
with the present user of that name: the uid is noted at the next request.`,
		Args: cli.Arguments(1, "the name of an account"),
	}
	groups := groupsFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		change := wire.UserChange{Groups: groups()}
		if cmd.Flags().Changed("role") {
			change.Role = &role
		}
		if cmd.Flags().Changed("local") {
			change.Local = &local
		}
		return applyChange(cmd.Context(), a, args[0], change, "changed")
	}
	roleFlag(cmd, &role, "")
	cmd.Flags().BoolVar(&local, "local", false, "it is that of the local user of this name")
	return cmd
}

// applyChange changes one account and tells so.
func applyChange(ctx context.Context, a *cli.App, name string, change wire.UserChange, done string) error {
	c, err := a.Client()
	if err != nil {
		return err
	}
	user, err := c.ChangeUser(ctx, name, change)
	if err != nil {
		return err
	}
	return say(a, user, "account %s %s\n", display.Clean(user.Name), done)
}

func switchAccount(a *cli.App, verb, short string, disabled bool) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Args:  cli.Arguments(1, "the name of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return applyChange(cmd.Context(), a, args[0], wire.UserChange{Disabled: &disabled}, verb+"d")
		},
	}
}

func deleteAccount(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "delete an account and its tokens for good",
		Long: `Deletes an account whose vjobs have all ended, and its tokens. Its local user is locked out.
An account that gets the name anew inherits nothing: what the former one has left belongs to NAME#N.
To lock an account out for a while, or while its vjobs run, disable it.`,
		Args: cli.Arguments(1, "the name of an account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if err := c.DeleteUser(cmd.Context(), args[0]); err != nil {
				return err
			}
			return say(a, map[string]string{"deleted": args[0]}, "account %s deleted\n", display.Clean(args[0]))
		},
	}
}

func auditCommand(a *cli.App) *cobra.Command {
	var q client.AuditQuery
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "list what administrators have done, changes of tokens, and failed logins (administrators)",
	}
	cli.ListCommand(a, cmd, auditColumns, func(ctx context.Context, c *client.Client) (any, []wire.AuditEntry, error) {
		list, err := c.Audit(ctx, q)
		return list, list.Entries, err
	})
	flags := cmd.Flags()
	flags.StringVar(&q.Action, "action", "", "only entries of this `ACTION`, such as user.create or login.failed")
	flags.StringVar(&q.By, "by", "", "only entries of this `ACCOUNT`")
	flags.IntVarP(&q.Limit, "limit", "n", 100, "the latest `N`")
	flags.StringVar(&q.Cursor, "before", "", "only those before the entry `N`")
	return cmd
}

// auditColumns are the columns of the audit list.
var auditColumns = []display.Field[wire.AuditEntry]{
	{Head: ">ENTRY", Cell: func(e *wire.AuditEntry) any { return e.ID }},
	{Head: "TIME", Cell: func(e *wire.AuditEntry) any { return e.At }},
	{Head: "BY", Cell: func(e *wire.AuditEntry) any { return e.By }},
	{Head: "FROM", Cell: func(e *wire.AuditEntry) any { return e.From }},
	{Head: "ACTION", Cell: func(e *wire.AuditEntry) any { return e.Action }},
	{Head: "OBJECT", Cell: func(e *wire.AuditEntry) any { return e.Object }},
	{Head: "TEXT", Cell: func(e *wire.AuditEntry) any { return strings.ReplaceAll(e.Text, "\n", " ") }},
}

// say prints a value as JSON, or a line for people.
func say(a *cli.App, v any, format string, args ...any) error {
	if a.Structured() {
		return a.Print(v)
	}
	_, err := fmt.Fprintf(a.Out, format, args...)
	return err
}
