package orders

// queueRepeatsJobDesign has a job for every request, and its workers look before they leap.
//
// A repeat of a request is no harm: a worker looks whether the order is there already, and does nothing then. Workers
// that take two jobs of one request at once both find nothing, and both make the order, seconds after all the answers.
func queueRepeatsJobDesign() Design {
	d := queue202Design()
	d.Name, d.Correct = "queue-repeats-job", false
	d.Summary = "answers 202 and queues every repeat, too: two workers find no order and make one each, after the answers"
	d.Twin = "queue-202"
	d.Shows, d.By = []string{"duplicate"}, []string{"burst-same-key", "double-click"}
	d.handler = working(queueDefects{repeats: true})
	return d
}
