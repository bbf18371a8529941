// A server that refuses forms in a format of its own.
import BeagleNet

struct Problems: Decodable {
    struct Problem: Decodable {
        let input: String
        let text: String
    }

    let problems: [Problem]
}

func read(_ dependencies: BeagleDependencies) {
    // snippet.reader
    dependencies.fieldErrorReader = FieldErrorReader { response, inputs in
        guard let body = try? response.decode(as: Problems.self) else { return nil }  // a standard format
        return body.problems.map { FieldError(field: $0.input, message: $0.text) }
    }
    // snippet.end
}
