package orders

// largeAnswerUnrecordedDesign records answers up to a limit, so that its table stays small.
//
// What is above the limit is not written, and nobody hears of it: the order is made, and its key is not known. Every
// repetition makes another order.
func largeAnswerUnrecordedDesign() Design {
	return Design{
		Name:     "large-answer-unrecorded",
		Summary:  "records no answer above 64 KiB: a request with a large answer is executed again at each repetition",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "answers-packed",
		Shows:    []string{"duplicate"},
		By:       []string{"large-answer"},
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler:  sizedAnswers(func(reply answer) bool { return len(reply.Body) <= 64<<10 }),
	}
}
