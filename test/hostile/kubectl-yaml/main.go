// Reads YAML as kubectl does (sigs.k8s.io/yaml): a JSON array of texts on stdin, on stdout an array of what each is, as
// {"json": …} or {"error": "…"}. The table beside the test is made from it (table.ts).
package main

import (
	"encoding/base64"
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type read struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	var texts []string // base64: a file may hold any bytes
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	all := make([]read, 0, len(texts))
	for _, text := range texts {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic(err)
		}
		value, err := strict(bytes)
		if err != nil {
			all = append(all, read{Error: err.Error()})
			continue
		}
		all = append(all, read{JSON: value})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(all); err != nil {
		panic(err)
	}
}

func withoutBlanks(bytes []byte) []byte {
	for len(bytes) > 0 && (bytes[0] == ' ' || bytes[0] == '\n' || bytes[0] == '\r' || bytes[0] == '\t') {
		bytes = bytes[1:]
	}
	return bytes
}

// A panic of the reader is an answer too.
func strict(bytes []byte) (value []byte, err error) {
	defer func() {
		if gone := recover(); gone != nil {
			err = gone.(error)
		}
	}()
	// kubectl's decoder tries JSON first for what begins like JSON.
	if trimmed := withoutBlanks(bytes); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return trimmed, nil
	}
	return yaml.YAMLToJSONStrict(bytes)
}
