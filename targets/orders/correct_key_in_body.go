package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// keyInBodyDesign is uniqueKey with the key in a member of the body, where a space at its end counts.
func keyInBodyDesign() Design {
	return Design{
		Name:     "key-in-body",
		Summary:  "takes the key from the body, as it is, and is otherwise unique-key",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredInBody(),
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return keyFromBody(needKey(newUniqueKey(a).create)) },
	}
}

func requiredInBody() targets.Key {
	return targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: keyMember, Required: true}}
}

// keyMember is the member of a body that carries the key where no header does.
const keyMember = "idempotency_key"

// keyFromBody passes requests on with the key that their body has.
func keyFromBody(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		members, err := readObject(req.Body)
		if err != nil {
			return answer{}, err
		}
		key, isText := members[keyMember].(string)
		if !isText && members[keyMember] != nil {
			return invalidBody(keyMember + " must be a string"), nil
		}
		return next(ctx, req.withKey(key))
	}
}
