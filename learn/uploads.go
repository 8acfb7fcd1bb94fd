package learn

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// largestUpload bounds what is read of a file that a command names, in bytes: it becomes a part of the target file, and of each request.
const largestUpload = 1 << 20

// uploads reads the files that a form names, and the one that holds the body. They are found from the folder where the command would be run.
func uploads(c *drafting.Request, i *inquiry) error {
	for _, u := range c.Files {
		content, err := files.Read(u.Path, largestUpload)
		if err != nil {
			part := "-F " + u.Member
			if u.Whole() {
				part = "its body"
			}
			return runerror.Configf("--curl: %s: %w", part, runerror.Unreadable("file", u.Path, err))
		}
		if u.Whole() {
			if err := c.ReadBody(u, content); err != nil {
				return runerror.Configf("--curl: the file %s: %w", u.Path, err)
			}
			continue
		}
		if !c.Fill(u, content) {
			why := fmt.Sprintf("What %s holds: a target file has texts only, and %s is none, so that another content is sent.", u.Member, u.Path)
			fmt.Fprintln(i.Said, why)
			i.file.Doubt("%s", why)
		}
	}
	return nil
}
