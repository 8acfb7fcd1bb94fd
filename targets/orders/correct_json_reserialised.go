package orders

import (
	"bytes"
	"encoding/json"
)

// jsonReserialisedDesign keeps answers as values, as a column of type jsonb does: they come back with
// other spaces and their members in another order. It is the same JSON, which is all that is promised.
func jsonReserialisedDesign() Design {
	return Design{
		Name:     "json-reserialised",
		Summary:  "keeps answers as JSON values: a replay has other spaces and another order of members",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(reserialised) }),
	}
}

func reserialised(first answer) answer {
	members, err := readObject(first.Body)
	if err != nil {
		panic(err) // this server wrote it
	}
	var spaced bytes.Buffer
	_ = json.Indent(&spaced, mustJSON(members), "", "  ") // what was marshalled is valid
	first.Body = spaced.Bytes()
	return first
}
