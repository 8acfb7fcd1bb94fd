package orders

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// dependencyPatience is how long the API waits for the service that it asks. A busy machine needs more than half a second.
const dependencyPatience = 5 * time.Second

// dependency is another service that a design asks, here the one for payments, and the API's way to it. It is
// safe for concurrent use. The nil dependency is none.
type dependency struct {
	server *http.Server
	served chan error
	client *http.Client
	url    string // by which the API reaches it

	mu      sync.Mutex
	charges map[string]charge // by what was charged
}

// charge is the service's answer: the same for the same thing, however often it is asked.
type charge struct {
	ID string `json:"id"`
}

// openDependency begins to serve it, and learns the address at which the API reaches it.
func openDependency(ctx context.Context, o Options) (*dependency, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(o.Dependency, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("serve the dependency: %w", err)
	}
	address := listener.Addr().String()
	if o.DependencyProxy != nil {
		if address, err = o.DependencyProxy(ctx, address); err != nil {
			return nil, errors.Join(fmt.Errorf("find an address of the dependency: %w", err), listener.Close())
		}
	}
	d := &dependency{
		served:  make(chan error, 1),
		client:  &http.Client{Timeout: dependencyPatience, Transport: &http.Transport{DisableKeepAlives: true}},
		url:     "http://" + address + "/charges",
		charges: map[string]charge{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", d.serveCharge)
	d.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { d.served <- d.server.Serve(listener) }()
	return d, nil
}

// close ends the service at once: it gets no more requests.
func (d *dependency) close() error {
	if d == nil {
		return nil
	}
	err := d.server.Close()
	if serveErr := <-d.served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// serveCharge takes the payment for what the body names, once.
func (d *dependency) serveCharge(w http.ResponseWriter, r *http.Request) {
	var asked struct{ For string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked); err != nil || asked.For == "" {
		invalidBody("it has to say what is charged for").write(w)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.charges[asked.For].ID == "" {
		d.charges[asked.For] = charge{newID("charge_")}
	}
	jsonAnswer(http.StatusCreated, d.charges[asked.For]).write(w)
}

// charge has the service take the payment for something. It asks once, on a connection of its own, so that nothing
// is asked again unseen. After an error it is unknown whether it was taken.
func (d *dependency) charge(ctx context.Context, what string) (charge, error) {
	body := bytes.NewReader(mustJSON(map[string]string{"for": what}))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, body)
	if err != nil {
		return charge{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.client.Do(req)
	if err != nil {
		return charge{}, fmt.Errorf("take the payment: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return charge{}, fmt.Errorf("take the payment: %w", err)
	}
	var taken charge
	if err := json.Unmarshal(text, &taken); err != nil || taken.ID == "" {
		return charge{}, fmt.Errorf("take the payment: the service says %s", resp.Status)
	}
	return taken, nil
}
