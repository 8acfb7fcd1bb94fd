package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
)

// asker settles what a command line leaves open: it asks on a terminal, or takes the best guess, or does neither.
type asker struct {
	in      *bufio.Reader // nil: nobody is asked
	out     io.Writer
	guesses bool
}

// newAsker asks if both ends of the conversation are terminals, unless it shall guess.
func newAsker(s streams, guesses bool) *asker {
	a := &asker{out: s.err, guesses: guesses}
	in, out := s.in, s.err
	if !guesses && isTerminal(in) && isTerminal(out) {
		a.in = bufio.NewReader(in)
	}
	return a
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && file != nil && isatty.IsTerminal(file.Fd())
}

// text asks for a text. An empty answer is the guess, which may be empty as well. Settled is false if nobody
// was asked and nothing was guessed.
func (a *asker) text(ctx context.Context, question, guess string) (answer string, settled bool, err error) {
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

// choice asks for one of some options, which have numbers from 1; guess is the number of the best one.
func (a *asker) choice(ctx context.Context, question string, options []string, guess int) (number int, settled bool, err error) {
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
		answer, _, err := a.text(ctx, "Number?", strconv.Itoa(guess))
		if err != nil {
			return 0, false, err
		}
		if number, err := strconv.Atoi(answer); err == nil && number >= 1 && number <= len(options) {
			return number, true, nil
		}
		fmt.Fprintf(a.out, "expected a number from 1 to %d\n", len(options))
	}
}

// line reads one line, without blanks around it. Nothing can end a read from a terminal but the terminal: when the
// context ends, the read is left to the end of the process.
func (a *asker) line(ctx context.Context) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := a.in.ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", surroundings(context.Cause(ctx))
	case r := <-done:
		if r.err != nil {
			return "", mistakef("the questions were not answered to their end")
		}
		return strings.TrimSpace(r.text), nil
	}
}
