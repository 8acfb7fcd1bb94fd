package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// asker settles what a command line leaves open: it asks on a terminal, or takes the best guess, or does neither.
type asker struct {
	in       *bufio.Reader // nil: no question is asked
	terminal int           // file descriptor behind in
	out      io.Writer
	guesses  bool
}

// newAsker asks if both ends of the conversation are terminals, unless it shall guess.
func newAsker(s streams, guesses bool) *asker {
	a := &asker{out: s.err, guesses: guesses}
	in, out := s.in, s.err
	if !guesses && isTerminal(in) && isTerminal(out) {
		a.in, a.terminal = bufio.NewReader(in), int(in.(*os.File).Fd())
	}
	return a
}

// isTerminal reports whether a person sits at a stream, guarded or not.
func isTerminal(stream any) bool {
	file := fileOf(stream)
	return file != nil && isatty.IsTerminal(file.Fd())
}

// Asks reports that a person answers.
func (a *asker) Asks() bool { return a.in != nil }

// Text asks for a text. An empty answer is the guess, which may be empty as well. Settled is false if no
// question was asked and nothing was guessed.
func (a *asker) Text(ctx context.Context, question, guess string) (answer string, settled bool, err error) {
	if a.in == nil {
		if !a.guesses || guess == "" {
			return "", false, nil
		}
		fmt.Fprintf(a.out, "%s %s (the best guess)\n", question, guess)
		return guess, true, nil
	}
	if guess != "" {
		question += " [" + guess + "]"
	}
	fmt.Fprintf(a.out, "%s ", question)
	line, err := a.line(ctx)
	if line == "" {
		line = guess
	}
	return line, err == nil, err
}

// Choice asks for one of some options, which have numbers from 1; guess is the number of the best one.
func (a *asker) Choice(ctx context.Context, question string, options []string, guess int) (number int, settled bool, err error) {
	if a.in == nil {
		if a.guesses {
			fmt.Fprintf(a.out, "%s %s (the best guess)\n", question, strings.Join(strings.Fields(options[guess-1]), " "))
		}
		return guess, a.guesses, nil
	}
	fmt.Fprintln(a.out, question)
	for i, option := range options {
		fmt.Fprintf(a.out, "%3d  %s\n", i+1, option)
	}
	for {
		answer, _, err := a.Text(ctx, "Number?", strconv.Itoa(guess))
		if err != nil {
			return 0, false, err
		}
		if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(options) {
			return number, true, nil
		}
		fmt.Fprintf(a.out, "expected a number from 1 to %d\n", len(options))
	}
}

// Secret asks for a text that the terminal does not show.
func (a *asker) Secret(ctx context.Context, question string) (string, error) {
	before, err := term.GetState(a.terminal)
	if err != nil {
		return "", runerror.Environment(fmt.Errorf("ask for a secret: %w", err))
	}
	defer func() { _ = term.Restore(a.terminal, before) }() // also where the context has ended first
	fmt.Fprintf(a.out, "%s ", question)
	text, err := answered(ctx, func() (string, error) {
		typed, err := term.ReadPassword(a.terminal)
		return string(typed), err
	})
	fmt.Fprintln(a.out)
	return text, err
}

// line reads one line, without blanks around it.
func (a *asker) line(ctx context.Context) (string, error) {
	return answered(ctx, func() (string, error) { return a.in.ReadString('\n') })
}

// answered reads an answer. Nothing can end a read from a terminal but the terminal: when the context ends, the read
// is left to the end of the process.
func answered(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := read()
		done <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", runerror.Environment(context.Cause(ctx))
	case a := <-done:
		if a.err != nil {
			return "", runerror.Configf("the questions were not answered to their end")
		}
		return strings.TrimSpace(a.text), nil
	}
}
