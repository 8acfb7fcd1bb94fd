package orders

// queueForgetsJobDesign takes a job off the queue before it is done.
//
// A worker that deletes what it takes can never do a job twice, and no test has seen one missing. Then a deploy ends the
// process in the middle of a job. The job is in no queue any more: what was accepted is never done, and nothing says so.
func queueForgetsJobDesign() Design {
	d := queue202Design()
	d.Name, d.Correct = "queue-forgets-job", false
	d.Summary = "answers 202, and the worker takes a job off the queue before it is done: a crash in between, and there is no order for ever"
	d.Twin = "queue-202"
	d.Shows, d.By = []string{"lost-acknowledged-write"}, []string{"crash-between"}
	d.handler = working(queueDefects{forgets: true})
	return d
}
