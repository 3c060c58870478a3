package pages

// Problem is a page that says what is wrong, and leads back.
type Problem struct {
	Title, Message string
	Links          []Link
}

// NotFound says that there is no such page.
func NotFound(message string) Problem {
	return Problem{Title: "Not found", Message: message, Links: []Link{{"Back to the fleet", "/"}, {"To the matrix", "/matrix"}}}
}
