package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// Listing is what commands share that print a table of things of one kind: the choice of columns, the order of
// rows, and --watch.
type Listing[T any] struct {
	a       *App
	fields  []display.Field[T]
	columns []string      // that were asked for
	sort    []string      // columns; with "-" in front from the largest
	usual   []string      // columns in place of the usual ones
	watch   time.Duration // 0: print once
}

// columnsHelp is the word that has --columns list them.
const columnsHelp = "help"

// List gives a command, which already has its RunE, the flags of a table with these columns.
func List[T any](a *App, cmd *cobra.Command, fields []display.Field[T]) *Listing[T] {
	l := &Listing[T]{a: a, fields: fields}
	flags := cmd.Flags()
	WordsVar(flags, &l.columns, "columns", nil, "only these `COLUMNS`, in this order; help lists them")
	WordsVar(flags, &l.sort, "sort", nil, "order by these `COLUMNS`; -COLUMN is from the largest")
	flags.DurationVar(&l.watch, "watch", 0, "print again every `TIME`, by default 2s, until ^C")
	flags.Lookup("watch").NoOptDefVal = "2s"
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name()
	}
	CompleteList(cmd, "columns", "", append(names, columnsHelp)...)
	CompleteList(cmd, "sort", "-", names...)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(l.columns, columnsHelp) {
			return l.help()
		}
		if err := l.check(cmd); err != nil {
			return err
		}
		if l.watch != 0 {
			return a.repeat(cmd.Context(), l.watch, func() error { return run(cmd, args) })
		}
		return run(cmd, args)
	}
	return l
}

// ListCommand is a command that prints all things of one kind: fetch returns the value for programs, and the rows.
func ListCommand[T any](a *App, cmd *cobra.Command, fields []display.Field[T], fetch func(ctx context.Context, c *client.Client) (any, []T, error)) *cobra.Command {
	var l *Listing[T]
	cmd.Args = NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.Client()
		if err != nil {
			return err
		}
		v, rows, err := fetch(cmd.Context(), c)
		if err != nil {
			return err
		}
		return l.Show(v, rows)
	}
	l = List(a, cmd, fields)
	return cmd
}

// Usual replaces the columns that are shown unless others are asked for.
func (l *Listing[T]) Usual(names ...string) { l.usual = names }

// Sorted reports whether an order was asked for: then all rows have to be there before some are left out.
func (l *Listing[T]) Sorted() bool { return len(l.sort) > 0 }

// Cells reports whether rows are shown by their columns, and not as the whole value.
func (l *Listing[T]) Cells() bool { return !l.a.Structured() || len(l.columns) > 0 }

// find returns the index of the column of a name, or -1.
func (l *Listing[T]) find(name string) int {
	return slices.IndexFunc(l.fields, func(f display.Field[T]) bool { return f.Name() == strings.ToLower(name) })
}

// check checks the flags.
func (l *Listing[T]) check(cmd *cobra.Command) error {
	known := func(flag, name string) error {
		if l.find(name) < 0 {
			return cluster.BadField(flag, name, "a column; --columns help lists them")
		}
		return nil
	}
	for _, name := range l.columns {
		if err := known("--columns", name); err != nil {
			return err
		}
	}
	for _, name := range l.sort {
		if err := known("--sort", strings.TrimPrefix(name, "-")); err != nil {
			return err
		}
	}
	if name := l.a.format.name; len(l.columns) > 0 && l.a.Structured() && name != FormatCSV {
		return cluster.Fault("--columns", "%s has all fields, want a table or csv", name)
	}
	if cmd.Flags().Changed("watch") && (l.watch < 100*time.Millisecond || l.watch > time.Hour) {
		return cluster.BadField("--watch", l.watch, "between 100ms and 1h")
	}
	return nil
}

// help lists the columns.
func (l *Listing[T]) help() error {
	t := &display.Table{Heads: display.Heads("COLUMN SHOWN")}
	for i := range l.fields {
		f := &l.fields[i]
		shown := [...]string{"always", "unless the terminal is narrow", "with -o wide", "when asked for"}[f.Level]
		if f.If != nil {
			shown = "if a row has it"
		}
		t.Row(f.Name(), shown)
	}
	return t.Write(l.a.Out, l.a.Width())
}

// Sort puts rows into the order that was asked for; otherwise they stay as they are.
func (l *Listing[T]) Sort(rows []T) {
	if !l.Sorted() {
		return
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		for _, name := range l.sort {
			name, largest := strings.CutPrefix(name, "-")
			cell := l.fields[l.find(name)].Cell
			order := display.Compare(cell(&a), cell(&b))
			if largest {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
}

// Show prints the rows, which are those of the value, in the format that was asked for.
func (l *Listing[T]) Show(v any, rows []T) error {
	l.Sort(rows)
	switch {
	case l.a.Structured() && l.Cells():
		return l.csv(rows)
	case l.a.Structured():
		return l.a.Print(v)
	}
	g := l.Gather()
	for i := range rows {
		g.Add(&rows[i])
	}
	return g.Print()
}

// Gathering is a table of rows that come one by one. It keeps their texts only.
type Gathering[T any] struct {
	l     *Listing[T]
	shown []int  // indices of the columns that are shown, or are if a row has them
	found []bool // of each: a row has it
	table display.Table
}

// Gather begins a table.
func (l *Listing[T]) Gather() *Gathering[T] {
	g := &Gathering[T]{l: l, shown: l.shown()}
	g.found = make([]bool, len(g.shown))
	for n, i := range g.shown {
		column := l.fields[i].Column()
		column.Dropped = column.Dropped && len(l.columns) == 0
		g.table.Heads = append(g.table.Heads, column)
		g.found[n] = !l.conditional(i)
	}
	return g
}

// Fields names the fields in JSON that the columns read, with commas between them.
func (g *Gathering[T]) Fields() string {
	of := make([]string, len(g.shown))
	for n, i := range g.shown {
		of[n] = g.l.fields[i].Of
	}
	return strings.Join(of, ",")
}

// Add adds a row.
func (g *Gathering[T]) Add(row *T) {
	cells := make([]string, len(g.shown))
	for n, i := range g.shown {
		f := &g.l.fields[i]
		cells[n] = display.Text(f.Cell(row))
		g.found[n] = g.found[n] || f.If(row)
	}
	g.table.Row(cells...)
}

// Rows is how many there are.
func (g *Gathering[T]) Rows() int { return len(g.table.Rows) }

// Print prints the table.
func (g *Gathering[T]) Print() error {
	for n := range g.found {
		g.table.Heads[n].Hidden = !g.found[n]
	}
	return g.l.a.WriteTable(g.l.a.Out, &g.table)
}

// shown returns the indices of the columns that are shown, or are if a row has them.
func (l *Listing[T]) shown() (list []int) {
	names := l.columns
	if len(names) == 0 {
		names = l.usual
	}
	for _, name := range names {
		list = append(list, l.find(name))
	}
	if len(list) > 0 {
		return list
	}
	for i := range l.fields {
		if level := l.fields[i].Level; level <= display.Roomy || level == display.Wide && l.a.Wide() {
			list = append(list, i)
		}
	}
	return list
}

// conditional reports whether a column is shown only if a row has it.
func (l *Listing[T]) conditional(i int) bool {
	return l.fields[i].If != nil && len(l.columns) == 0 && len(l.usual) == 0
}

// csv prints the columns that were asked for, as values for programs.
func (l *Listing[T]) csv(rows []T) error {
	lines := make([][]string, 1, len(rows)+1)
	shown := l.shown()
	for _, i := range shown {
		lines[0] = append(lines[0], l.fields[i].Name())
	}
	for r := range rows {
		line := make([]string, len(shown))
		for n, i := range shown {
			line[n] = display.Raw(l.fields[i].Cell(&rows[r]))
		}
		lines = append(lines, line)
	}
	return writeCSV(l.a.Out, lines)
}
