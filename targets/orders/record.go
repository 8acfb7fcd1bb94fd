package orders

import (
	"context"
	"net/http"
	"path"
)

// keysTable remembers the first answer to a key; the primary key is what makes a key unique.
const keysTable = `create table idempotency_keys (
	idempotency_key varchar(600) primary key,
	fingerprint varchar(64) not null,
	status integer not null,
	location varchar(255) not null,
	body text not null
)`

// record is what the table idempotency_keys remembers of a key.
type record struct {
	Fingerprint string
	Answer      answer
}

// insertKey remembers the answer to a key; a key that is remembered already is refused.
func (q queries) insertKey(ctx context.Context, req request, reply answer) error {
	return q.exec(ctx, `insert into idempotency_keys (idempotency_key, fingerprint, status, location, body)
		values (?, ?, ?, ?, ?)`, req.Key, req.Fingerprint, reply.Status, reply.Header["Location"], string(reply.Body))
}

// recordOf reads what is remembered of a key; sql.ErrNoRows says that it is new.
func (q queries) recordOf(ctx context.Context, key string) (record, error) {
	var r record
	var location, body string
	err := q.queryRow(ctx,
		`select fingerprint, status, location, body from idempotency_keys where idempotency_key = ?`, key,
	).Scan(&r.Fingerprint, &r.Answer.Status, &location, &body)
	if err != nil {
		return record{}, err
	}
	r.Answer.Body = []byte(body)
	r.Answer.Header = map[string]string{}
	if location != "" {
		r.Answer.Header["Location"] = location
	}
	switch {
	case r.Answer.Status >= http.StatusBadRequest:
		r.Answer.Header["Content-Type"] = "application/problem+json"
	case body != "":
		r.Answer.Header["Content-Type"] = "application/json"
	}
	return r, nil
}

// replayTo gives the remembered answer to who sends the same body, and refuses another body.
func (r record) replayTo(req request) answer {
	if r.Fingerprint != req.Fingerprint {
		return keyReused()
	}
	return r.Answer
}

// orderID is the id of the order that the remembered answer is about.
func (r record) orderID() string { return path.Base(r.Answer.Header["Location"]) }
