package drafting

import (
	"regexp"
	"strings"
)

// Variable makes the name of an environment variable: of SHOP and X-Api-Key, SHOP_API_KEY.
func Variable(prefix, name string) string {
	parts := regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`).FindAllString(name, -1)
	if len(parts) > 1 && strings.EqualFold(parts[0], "x") {
		parts = parts[1:]
	}
	return strings.ToUpper(strings.Join(append([]string{prefix}, parts...), "_"))
}

// Exported makes the name of a value of templates: of customer-account, CustomerAccount.
func Exported(noun string) string {
	name := ""
	for _, part := range regexp.MustCompile(`[A-Za-z]+[0-9]*`).FindAllString(noun, -1) {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

// Slug makes the name of a target of a title: of "My Shop (v2)", my-shop-v2.
func Slug(title string) string {
	const longest = 40
	slug := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(title), "-"), "-")
	slug = strings.Trim(slug[:min(len(slug), longest)], "-")
	if slug == "" || slug[0] < 'a' {
		return strings.Trim("api-"+slug, "-")
	}
	return slug
}

// Prefix is how the names of the variables of a target begin.
func Prefix(target string) string {
	return strings.ToUpper(strings.ReplaceAll(target, "-", "_"))
}

// Escape writes a text such that neither variables nor templates are read into it.
func Escape(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "$", "$$"), "{{", `{{"{{"}}`)
}

// escaped escapes all texts of a value.
func escaped(value any) any {
	switch value := value.(type) {
	case string:
		return Escape(value)
	case []any:
		copied := make([]any, len(value))
		for i := range value {
			copied[i] = escaped(value[i])
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name := range value {
			copied[name] = escaped(value[name])
		}
		return copied
	}
	return value
}
