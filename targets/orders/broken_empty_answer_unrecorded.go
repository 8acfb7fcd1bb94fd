package orders

// emptyAnswerUnrecordedDesign records the bodies of answers.
//
// "If there is a body, record it" was meant for answers to reads. An answer without one leaves no record, and its
// request is executed again.
func emptyAnswerUnrecordedDesign() Design {
	return Design{
		Name:     "empty-answer-unrecorded",
		Summary:  "records no answer without a body: a request that asks for a minimal answer is executed again at each repetition",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "answers-packed",
		Shows:    []string{"duplicate"},
		By:       []string{"empty-answer"},
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler:  sizedAnswers(func(reply answer) bool { return len(reply.Body) > 0 }),
	}
}
