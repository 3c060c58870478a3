package pages

// Failure is a page that says what is wrong, and leads back.
type Failure struct {
	Title, Message string
	Links          []Link
}

// NotFound says that there is no such page.
func NotFound(message string) Failure {
	return Failure{Title: "Not found", Message: message, Links: []Link{{"What is broken", "/"}, {"The fleet", fleetPath}, {"To the matrix", "/matrix"}}}
}
