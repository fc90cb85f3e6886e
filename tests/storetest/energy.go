package storetest

import (
	"testing"

	"vjob/ctxswitch/journal"
)

func testBudgets(t *testing.T, w *World) {
	same(t, "budgets at first", w.load(t).Budgets, journal.Budgets{})
	first := journal.Budgets{Text: `[{"watts": 12000}]`, By: "root", At: Start}
	w.commit(t, journal.Step{Budgets: &first})
	w.reopen()
	same(t, "budgets", w.load(t).Budgets, first)
	err := w.Commit(t.Context(), journal.Step{Budgets: &journal.Budgets{Text: "x"}, Usage: []journal.Usage{{VJob: 99}}})
	if err == nil {
		t.Error("the account of an unknown vjob is accepted")
	}
	same(t, "budgets after that", w.load(t).Budgets, first)
	w.commit(t, journal.Step{Budgets: &journal.Budgets{By: "root", At: Start}})
	same(t, "no budgets", w.load(t).Budgets, journal.Budgets{By: "root", At: Start})
}

func testPrices(t *testing.T, w *World) {
	same(t, "prices at first", w.load(t).Prices, journal.Prices{})
	first := journal.Prices{Text: "time,EUR/MWh\n", By: "root", At: Start}
	w.commit(t, journal.Step{Prices: &first})
	w.reopen()
	same(t, "prices", w.load(t).Prices, first)
	err := w.Commit(t.Context(), journal.Step{Prices: &journal.Prices{Text: "x"}, Usage: []journal.Usage{{VJob: 99}}})
	if err == nil {
		t.Error("the account of an unknown vjob is accepted")
	}
	same(t, "prices after that", w.load(t).Prices, first)
	w.commit(t, journal.Step{Prices: &journal.Prices{By: "root", At: Start}})
	same(t, "no prices", w.load(t).Prices, journal.Prices{By: "root", At: Start})
}

func testDrawn(t *testing.T, w *World) {
	same(t, "drawn at first", w.load(t).Drawn, []journal.NodeEnergy(nil))
	w.commit(t, journal.Step{Drawn: []journal.NodeEnergy{{Node: "b", Joules: 3}, {Node: "a", Joules: 5}}})
	w.commit(t, journal.Step{Drawn: []journal.NodeEnergy{{Node: "b", Joules: 4}}})
	w.reopen()
	want := []journal.NodeEnergy{{Node: "a", Joules: 5}, {Node: "b", Joules: 7}}
	same(t, "drawn", w.load(t).Drawn, want)
	if err := w.Commit(t.Context(), journal.Step{Drawn: want, Usage: []journal.Usage{{VJob: 99}}}); err == nil {
		t.Error("the account of an unknown vjob is accepted")
	}
	same(t, "drawn after what was refused", w.load(t).Drawn, want)
}
