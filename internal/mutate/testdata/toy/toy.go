// Package toy judges orders. Some of its rules have no test.
package toy

import "strings"

type judge struct{ complaints []string }

func (j *judge) report(text string) { j.complaints = append(j.complaints, text) }

// Check complains about orders that are not right.
func Check(amount int, currency string) []string {
	j := &judge{}
	if amount < 0 {
		j.report("below zero")
	}
	if amount > 1000 {
		j.report("too much")
	}
	if !known(currency) {
		j.report("unknown currency")
	}
	return j.complaints
}

func known(currency string) bool {
	switch currency {
	case "EUR", "USD":
		return true
	case strings.TrimSpace(" "): // without it, the import is unused
		return true
	}
	return false
}

// Size says how large an order is.
func Size(amount int) string {
	if small(amount) {
		return "small"
	}
	return "large"
}

func small(amount int) bool { return amount < 10 || amount == 3 }

// Wait counts down.
func Wait(n int) int {
	for {
		if n == 0 {
			return n
		}
		n--
	}
}

// Fine reports that an amount passes every rule.
func Fine(amount int) bool {
	for _, rule := range rules() {
		if !rule(amount) {
			return false
		}
	}
	return true
}

func rules() []func(int) bool {
	return []func(int) bool{
		func(amount int) bool { return amount > 0 },
		small,
	}
}
