package targets

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// sinks finds sinks that no target could reach, and answers that do not work.
func (v *validator) sinks() {
	listens := map[string]string{}
	for name, link := range v.target.Links {
		listens[link.Listen] = "the link " + name
	}
	for _, name := range v.target.SinkNames() {
		at, sink := jsonpointer.Of("sinks", name), v.target.Sinks[name]
		sinkPlace(v, at, name, sink)
		if other := listens[sink.Listen]; other != "" && sink.Listen != "" {
			v.addMistake(at+"/listen", "%s listens here already", other)
		}
		listens[sink.Listen] = "the sink " + name
		if kinds := kindsOf(sink); len(kinds) != 1 {
			v.addMistake(at, "expected one kind of the sink: http: {} takes every request, smtp: {} every mail, otlp: {} every span; redis: {stream: orders} and rabbitmq: {exchange: orders} read what is published")
			continue
		}
		if sink.Followed() {
			followedSink(v, at, sink)
			continue
		}
		if sink.HTTP == nil {
			continue
		}
		if key := sink.HTTP.Key; key.Name == "" {
			v.addMistake(at+"/http/key", "the key \"name\" is missing: of the member of the body, or of the parameter of the query")
		}
		if intent := sink.HTTP.Intent; intent.In == contract.KeyInPath && (!isPattern(intent.Name) || !strings.Contains(intent.Name, "*")) {
			v.addMistake(at+"/http/intent/name", "expected a path in which a * stands for what names the intent, such as /v1/orders/*/capture, got %s", v.doc.Shown(at+"/http/intent/name"))
		}
		for i, answer := range sink.HTTP.Answers {
			sinkAnswer(v, at+"/http/answers"+jsonpointer.Of(i), answer)
		}
	}
}

// sinkPlace looks at where a sink listens, and whether the target is told.
func sinkPlace(v *validator, at, name string, sink Sink) {
	host, _, err := net.SplitHostPort(sink.Listen)
	switch p := v.target.Process; {
	case sink.Followed() && sink.Listen != "":
		v.addMistake(at+"/listen", "this sink reads at a broker, and listens nowhere; leave listen out")
	case sink.Followed():
	case sink.Listen == "" && p == nil:
		v.addMistake(at, "the target runs already, so it cannot be told a free port; add listen: 127.0.0.1:19090, and configure the target with it")
	case sink.Listen == "" && !p.Tells(".Sink."+name+"."):
		v.addMistake(at, "the process does not get the address of this sink; put {{.Sink.%s.URL}}, or its .Host and .Port, into command or env", name)
	case sink.Listen == "":
	case !isAddress(sink.Listen):
		v.addMistake(at+"/listen", "expected a host and a port such as 127.0.0.1:19090, got %s", v.doc.Shown(at+"/listen"))
	case err == nil && !isLoopback(host) && !slices.Contains(v.target.AllowHosts, host):
		v.addMistake(at+"/listen", "others than this machine could reach %s; listen at 127.0.0.1, or list the host in allow_hosts", v.doc.Shown(at+"/listen"))
	}
}

// followedSink looks at where a sink reads at a broker.
func followedSink(v *validator, at string, sink Sink) {
	u, err := url.Parse(sink.Server())
	switch {
	case sink.Redis != nil:
		named := slices.DeleteFunc([]string{sink.Redis.Stream, sink.Redis.List, sink.Redis.Channel}, func(name string) bool { return name == "" })
		if len(named) != 1 {
			v.addMistake(at+"/redis", "expected one of stream: orders, list: orders and channel: orders, which says where the target publishes")
		}
		switch {
		case sink.Redis.URL == "" && !v.target.Store.Declared():
			v.addMistake(at+"/redis", "the key \"url\" is missing, such as redis://127.0.0.1:6379/0; it may be left out where the target has a store")
		case sink.Redis.URL != "" && (err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == ""):
			v.addMistake(at+"/redis/url", "expected a URL such as redis://127.0.0.1:6379/0")
		}
	case (sink.RabbitMQ.Exchange == "") == (sink.RabbitMQ.Queue == ""):
		v.addMistake(at+"/rabbitmq", "expected one of exchange: orders and queue: orders, which says where the target publishes")
	case sink.RabbitMQ.Queue != "" && sink.RabbitMQ.RoutingKey != "":
		v.addMistake(at+"/rabbitmq/routing_key", "what is published straight to a queue has its name for a routing key; leave routing_key out")
	case err != nil || u.Scheme != "amqp" && u.Scheme != "amqps" || u.Hostname() == "":
		v.addMistake(at+"/rabbitmq/url", "expected a URL such as amqp://guest:guest@127.0.0.1:5672/")
	}
	if parts := sink.Message(); parts.Idempotent && parts.Key == "" {
		v.addMistake(at, "idempotent says that consumers know a message by its key; add key: the name of the field or the header with it, or a JSON pointer into the body")
	}
}

// sinkAnswer tries the templates of an answer with a made-up request.
func sinkAnswer(v *validator, at string, a SinkAnswer) {
	if !isPattern(a.Path) {
		v.addMistake(at+"/path", "expected a path such as /v1/charges or /v1/orders/*/capture, got %s", v.doc.Shown(at+"/path"))
	}
	if _, _, err := a.Fill(NewSinkRequest("id", "key", "/path", map[string]any{})); err != nil {
		v.addMistake(at, "%s", explainAnswer(err))
	}
}

// explainAnswer says what is wrong with a template of an answer, without the engine's coordinates.
func explainAnswer(err error) string {
	if field := missingField(err); field != "" {
		return "there is no {{" + field + `}}; there are .ID, .Key, .Path, .Part 3 and .Body "/amount"`
	}
	return templateError(err)
}

// isPattern reports whether a text is empty, or a path in which a * may stand for a part.
func isPattern(text string) bool {
	_, err := path.Match(text, "")
	return text == "" || err == nil && text[0] == '/'
}

// seenEffect looks at an effect that is counted at a sink.
func seenEffect(v *validator, at string, o Operation, e contract.Effect) {
	sink, known := v.target.Sinks[e.Seen]
	switch {
	case !known && len(v.target.Sinks) == 0:
		v.addMistake(at+"/seen", "there is no sink; add sinks: {%s: {http: {}}}", e.Seen)
	case !known:
		v.addMistake(at+"/seen", "there is no sink %s%s the sinks are %s", v.doc.Shown(at+"/seen"), suggestion(e.Seen, v.target.SinkNames()), enumerate(v.target.SinkNames()))
	case !v.target.KnowsRows(o):
		v.addMistake(at, "an effect is counted for each row, and nothing says how to find the rows; add rows.query, or rows.http")
	}
	for place, where := range map[string]*contract.Where{"/where": &e.Where, "/undone": e.Undone} {
		if where == nil {
			continue
		}
		if !isPattern(where.Path) {
			v.addMistake(at+place+"/path", "expected a path such as /v1/charges or /v1/orders/*/capture, got %s", v.doc.Shown(at+place+"/path"))
		}
		foreign, own := foreignTo(sink)
		for _, key := range foreign {
			if known && v.doc.Has(at+place+"/"+key) {
				v.addMistake(at+place+"/"+key, "what reaches the sink %s has no %s; use %s", e.Seen, key, enumerate(own))
			}
		}
	}
}

// kindsOf are the kinds of a sink, of which it should have one, with the keys of where that can be asked of what reaches them.
func kindsOf(s Sink) map[string][]string {
	kinds := map[string][]string{"http": {"method", "path"}, "smtp": {"to", "subject"}, "otlp": {"span"}, "redis": {"to", "type"}, "rabbitmq": {"to", "type"}}
	for kind, has := range map[string]bool{"http": s.HTTP != nil, "smtp": s.SMTP != nil, "otlp": s.OTLP != nil, "redis": s.Redis != nil, "rabbitmq": s.RabbitMQ != nil} {
		if !has {
			delete(kinds, kind)
		}
	}
	return kinds
}

// foreignTo are the keys of where that cannot be asked of what reaches a sink, and those that can; none: it is not of one kind.
func foreignTo(s Sink) (foreign, own []string) {
	kinds := kindsOf(s)
	if len(kinds) != 1 {
		return nil, nil
	}
	for _, members := range kinds {
		own = members
	}
	for _, members := range kindsOf(Sink{HTTP: &HTTPSink{}, SMTP: &SMTPSink{}, OTLP: &OTLPSink{}, Redis: &RedisSink{}}) {
		for _, member := range members {
			if !slices.Contains(own, member) {
				foreign = append(foreign, member)
			}
		}
	}
	return foreign, own
}

// enumerate lists names.
func enumerate(names []string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	return list(names)
}
