package git

import "cmp"

// Person is who commits at a place, as Git's environment and config say it. What they do not say, or what cannot be read, is
// empty.
func Person(at string, env Environment) Author {
	d, err := discover(at)
	if err != nil {
		d = directories{} // the user's own config is read all the same
	}
	s, err := readSettings(d, env)
	if err != nil {
		return Author{Name: env("GIT_AUTHOR_NAME"), Email: env("GIT_AUTHOR_EMAIL")}
	}
	user := s.config.Section("user")
	return Author{Name: cmp.Or(env("GIT_AUTHOR_NAME"), user.Option("name")), Email: cmp.Or(env("GIT_AUTHOR_EMAIL"), user.Option("email"))}
}
