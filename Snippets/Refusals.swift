// Reads the errors of a server that has its own format for them.
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
    dependencies.fieldErrorReader = Form.FieldErrorReader { response, inputs in
        guard let body = try? response.decode(as: Problems.self) else { return nil }  // try the standard formats
        return body.problems.map { Form.FieldError(field: $0.input, message: $0.text) }
    }
    // snippet.end
}
