package drafting

import "math"

// creditLasts is for how many creates a number in one row is to suffice, so that a run does not go on to the next row.
const creditLasts = 5000

// OverLots is a falling total over all rows of its table where the one row soon has nothing left: the next creates take from another one, such as
// the next lot that came in. What others do in these rows would count, but so it would in the one.
func (b Book) OverLots(postings []Posting) Book {
	if !b.Total || len(b.Where) == 0 || len(postings) == 0 || IsDate(b.Number) {
		return b
	}
	by := 0.0
	for _, p := range postings {
		by = math.Max(by, p.Before.Numbers[b.Number]-p.After.Numbers[b.Number])
	}
	left := postings[len(postings)-1].After.Numbers[b.Number]
	if by > 0 && left >= 0 && left < creditLasts*by && b.By == "" {
		b.Where = nil
	}
	return b
}
