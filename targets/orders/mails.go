package orders

import (
	"context"
	"fmt"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/url"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// mailServer is the mail server that designs send receipts to. It drops a mail whose Message-ID it had before.
const mailServer = "mail"

// oneReceipt is what an order has besides its row.
func oneReceipt() contract.Effect {
	return contract.Effect{Name: "receipt", Seen: mailServer, Where: contract.Where{Subject: "Your receipt*"}}
}

// receipt mails the receipt for an order under a Message-ID, and nothing for a quote. After an error it is unknown whether it was taken.
func (s *outside) receipt(ctx context.Context, id string, o order) error {
	if o.Kind == kindQuote || s.url == "" {
		return nil
	}
	if err := s.mail(ctx, id, o); err != nil {
		return fmt.Errorf("mail the receipt: %w", err)
	}
	return nil
}

func (s *outside) mail(ctx context.Context, id string, o order) error {
	to, err := url.Parse(s.url)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{Timeout: dependencyPatience}).DialContext(ctx, "tcp", to.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(dependencyPatience)); err != nil {
		return err
	}
	c, err := smtp.NewClient(conn, to.Hostname())
	if err != nil {
		return err
	}
	if err := c.Mail("shop@shop.example"); err != nil {
		return err
	}
	if err := c.Rcpt("ann@customer.example"); err != nil {
		return err
	}
	data, err := c.Data()
	if err != nil {
		return err
	}
	text := quotedprintable.NewWriter(data)
	fmt.Fprintf(data, "Message-ID: <%s@shop.example>\r\nSubject: Your receipt\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", id)
	fmt.Fprintf(text, "Thank you for your order. You paid %d ¢ for %q.\r\n", o.Amount, o.Note)
	if err := text.Close(); err != nil {
		return err
	}
	return data.Close() // the answer to the data
}
