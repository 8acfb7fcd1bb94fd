package orders

// largeAnswerTextCutDesign keeps the terms of an answer in a column of 64 KiB.
//
// The database takes what fits, with a warning that nobody reads. The replay is whole JSON, with half of its terms.
func largeAnswerTextCutDesign() Design {
	return Design{
		Name:     "large-answer-text-cut",
		Summary:  "records the texts of an answer up to 64 KiB: the replay is whole JSON, with a text that ends early",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "answers-packed",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"large-answer"},
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler: sizedReplays(recordsAll, replayOfLarge(func(members map[string]any) {
			members["terms"] = members["terms"].(string)[:64<<10]
		})),
	}
}
