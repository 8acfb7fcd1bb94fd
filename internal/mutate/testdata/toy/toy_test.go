package toy

import "testing"

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		amount     int
		currency   string
		complaints int
	}{
		"right":            {1, "EUR", 0},
		"dollars":          {1, "USD", 0},
		"nothing":          {1, "", 0},
		"below zero":       {-1, "EUR", 1},
		"unknown currency": {1, "XXX", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Check(c.amount, c.currency); len(got) != c.complaints {
				t.Error(got)
			}
		})
	}
}

func TestSize(t *testing.T) {
	if Size(1) != "small" || Size(3) != "small" || Size(10) != "large" {
		t.Error("wrong size")
	}
}

func TestWait(t *testing.T) {
	if Wait(3) != 0 {
		t.Error("not at zero")
	}
}

func TestFine(t *testing.T) {
	if !Fine(1) || Fine(0) {
		t.Error("a rule is missing")
	}
}
