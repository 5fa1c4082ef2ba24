package journal

import (
	"strings"
	"unicode"
)

var secretWords = map[string]bool{
	"password": true, "passwd": true, "passphrase": true, "pass": true, "pwd": true, "pw": true,
	"secret": true, "secrets": true, "token": true, "tokens": true, "authtoken": true, "accesstoken": true,
	"apikey": true, "accesskey": true, "secretkey": true, "privatekey": true, "credential": true, "credentials": true,
	"auth": true, "authorization": true, "cookie": true, "cookies": true, "sessionid": true, "bearer": true, "otp": true,
	"dsn": true, "pat": true, "jwt": true, "webhook": true,
}

// harmlessWords make a name say where a secret is, or how much, and not what.
var harmlessWords = map[string]bool{
	"file": true, "path": true, "dir": true, "stdin": true, "prompt": true, "fd": true, "env": true, "command": true,
	"cmd": true, "helper": true, "max": true, "min": true, "count": true, "limit": true, "length": true, "sock": true,
	"type": true, "mode": true, "method": true,
}

// secretName reports whether a name of a flag, variable or header names a
// secret. alone: its value is not in the same word, so a weak hint such as
// "key" is not enough.
func secretName(name string, alone bool) bool {
	name = strings.Trim(name, "-")
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	words := nameWords(name)
	found := false
	for i, word := range words {
		switch {
		case harmlessWords[word]:
			return false
		case secretWords[word] || secretEnd(word):
			found = true
		case word == "key" && (!alone || i > 0 && keyKinds[words[i-1]]):
			found = true
		}
	}
	return found
}

// secretEnd finds names that run two words into one: PGPASSWORD, mytoken.
func secretEnd(word string) bool {
	for _, end := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

var keyKinds = map[string]bool{
	"api": true, "access": true, "secret": true, "private": true, "encryption": true, "signing": true, "auth": true,
	"account": true, "license": true, "master": true,
}

// nameWords cuts GITHUB_TOKEN, auth-token, npm.authToken into lower-case words.
func nameWords(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			end()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}
