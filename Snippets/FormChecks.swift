// A form with ready validators, a check on the server, and a view that follows its state.
import BeagleNet

let client = Beagle.dependencies.networkClient

// snippet.checks
let taken = Form.AsyncValidator { value in
    let names = [URLQueryItem(name: "name", value: value.text)]
    let reply = try await client.fetch("/names", as: [String].self, query: names)
    return reply.isEmpty ? nil : Form.Message(.init(rawValue: "taken"), "is taken")
}
let form = Form([
    Form.Input("name", isRequired: true, validators: [.length(atMost: 20)], asyncValidator: taken),
    Form.Input("age", validators: [.range(atLeast: 18)]),
    Form.Input("password", isRequired: true),
    Form.Input("again", validators: [.equal(to: "password")]),
])
Beagle.dependencies.formMessages = Form.Messages { message in
    switch message.key {
    case .required: "não pode ficar vazio"
    case .tooSmall: "precisa ser pelo menos \(message.arguments["minimum"] ?? "")"
    default: nil  // the English text
    }
}
// snippet.end

struct Button { var isEnabled = false }
var button = Button()
func show(_ text: String) { print(text) }
func show(_ messages: [String], at name: String) { print(name, messages) }

// snippet.state
for await state in form.states {
    button.isEnabled = state.isValid && !state.isSubmitting
    for input in state.inputs where input.isEdited { show(input.messages, at: input.name) }
    switch state.status {
    case .submitting: show(state.progress.map { "\($0.bytesSent) bytes" } ?? "sending")
    case .accepted: show(state.hasUnsentEdits ? "saved, but not the latest edits" : "saved")
    case .kept: show("is sent when there is a connection")
    case .failed(let error): show("\(error)")
    case .editing, .refused: break
    }
}
// snippet.end

// snippet.patch
let changes = Form([Form.Input("name", "Ada")], httpData: .init(method: .PATCH))
// snippet.end
