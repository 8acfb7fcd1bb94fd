package learn

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// largestUpload bounds what is read of a file that a form names, in bytes: it becomes a part of the target file, and of each request.
const largestUpload = 1 << 20

// uploads reads the files that a form names. They are found from the folder where the command would be run.
func uploads(c *drafting.Request, i *inquiry) error {
	for _, u := range c.Files {
		content, err := files.Read(u.Path, largestUpload)
		if err != nil {
			return runerror.Configf("--curl: -F %s: %w", u.Member, runerror.Unreadable("file", u.Path, err))
		}
		if !c.Fill(u, content) {
			why := fmt.Sprintf("What %s holds: a target file has texts only, and %s is none, so that another content is sent.", u.Member, u.Path)
			fmt.Fprintln(i.Said, why)
			i.file.Doubts = append(i.file.Doubts, why)
		}
	}
	return nil
}
