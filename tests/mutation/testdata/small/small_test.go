package small

import "testing"

func TestMake(t *testing.T) {
	b, err := make1([]int{1, 2, 3}, 0)
	if err != nil || b.Kind != many || !b.Open {
		t.Fatal(b, err)
	}
	if b.Kind.String() != "many" || none.String() != "" {
		t.Error(b.Kind)
	}
	if _, err := make1([]int{1, -1}, 0); err == nil {
		t.Error("a size below zero")
	}
}

func TestSum(t *testing.T) {
	b := &box{Sizes: []int{1, 2}, Open: true}
	if got := b.sum(2); got != 7 || b.Open {
		t.Error(got, b.Open)
	}
}

func TestWait(t *testing.T) {
	done := make(chan int, 1)
	done <- 5
	if got := wait(done, nil); got != 5 {
		t.Error(got)
	}
	other := make(chan int)
	close(other)
	if got := wait(nil, other); got != 4 {
		t.Error(got)
	}
}
