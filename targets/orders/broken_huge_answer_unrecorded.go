package orders

// hugeAnswerUnrecordedDesign records answers up to what its store takes as one document.
//
// Answers of 64 KiB are kept, and the test of that is green. What is larger is left out with a warning in the log: the order is
// made, and every repetition makes another one.
func hugeAnswerUnrecordedDesign() Design {
	return Design{
		Name:     "huge-answer-unrecorded",
		Summary:  "records no answer above 400 KiB: a request with a huge answer is executed again at each repetition",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "answers-packed",
		Shows:    []string{"duplicate"},
		By:       []string{"huge-answer"},
		schema:   []string{ordersTable, keysTable},
		describe: describeSizes,
		handler:  sizedAnswers(func(reply answer) bool { return len(reply.Body) <= 400<<10 }),
	}
}
